import { defineJob } from 'longshore';

/** The smallest job: takes params, returns a result. */
export const hello = defineJob({
  key: 'hello',
  owner: 'team-examples',
  async run(params: { name?: string }) {
    return { greeting: `Hello, ${params.name ?? 'world'}!` };
  },
});
