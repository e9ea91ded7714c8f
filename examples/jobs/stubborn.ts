import { setTimeout as pause } from 'node:timers/promises';
import { defineJob } from 'longshore';

/** Ignores its abort signal. Cancelling it still ends it: after the grace its process is killed. */
export const stubborn = defineJob({
  key: 'stubborn',
  owner: 'team-examples',
  cancelGraceMs: 1_000,
  async run() {
    process.on('SIGTERM', () => console.log('no, thanks'));
    for (;;) await pause(1_000);
  },
});
