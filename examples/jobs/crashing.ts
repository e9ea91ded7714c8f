import { defineJob } from 'longshore';

/** Ends its own process. Only this job is hurt: it fails as CRASHED, the worker goes on. */
export const crashing = defineJob({
  key: 'crashing',
  owner: 'team-examples',
  maxAttempts: 2,
  retry: { baseMs: 500 },
  run() {
    process.exit(1);
  },
});
