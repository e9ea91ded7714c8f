import { defineJob } from 'longshore';

/** Fails twice, then succeeds: watch `attempts` and `error` while it is retried. */
export const flaky = defineJob({
  key: 'flaky',
  owner: 'team-examples',
  maxAttempts: 5,
  retry: { baseMs: 500, maxMs: 5_000 },
  async run(params: { failures?: number }, ctx) {
    const failures = params.failures ?? 2;
    if (ctx.attempt <= failures) throw new Error(`failure ${ctx.attempt} of ${failures}`);
    return { succeededOnAttempt: ctx.attempt };
  },
});
