import { randomUUID } from 'node:crypto';
import { type Check, expectThat } from '../../check.ts';
import { claimOf, expectStatus, type Stage } from '../stage.ts';

/** Ways to say nothing else. */
const LINE = { level: 'info', message: 'conformance', ageMs: 0 } as const;
const FAILURE = { kind: 'failure', error: { message: 'stopped by a cancel' } } as const;

export const NEWS: readonly Check<Stage>[] = [
  {
    rule: 5,
    check: 'a heartbeat answers with the difference: gone and unheld',
    play: async (stage) => {
      const { id } = await stage.register();
      const job = await stage.job(id);
      const foreign = { id: randomUUID(), claim: 1 };
      const { gone, unheld, cancel, drain } = await stage.beat(id, [foreign]);
      expectThat(gone.length === 1 && gone[0] === foreign.id, 'the foreign job in gone', gone);
      const listed = unheld.length === 1 && unheld[0]?.id === job.id;
      expectThat(listed && unheld[0]?.claim === job.claim, 'its job in unheld', unheld);
      expectThat(cancel.length === 0 && !drain, 'no cancel and no drain', { cancel, drain });
      await stage.succeed(id, job);
      await stage.leave(id);
    },
  },
  {
    rule: 5,
    check: 'a cancel ends a waiting turn, also one without room, and the heartbeat names the job',
    play: async (stage) => {
      const { id } = await stage.register();
      const job = await stage.job(id);
      const waiting = stage.turn(id, { room: 0, waitMs: 30_000 });
      waiting.catch(() => undefined); // It is not awaited if the key may not cancel.
      await stage.permitted('jobs:write', stage.client.cancel(job.id));
      const { beat } = await waiting;
      expectThat(beat, 'beat: true', beat);
      const { cancel } = await stage.beat(id, [job]);
      expectThat(cancel.length === 1 && cancel[0] === job.id, 'the job in cancel', cancel);
      const next = await stage.settle(id, job, FAILURE);
      expectThat(next === 'cancelled', 'next: cancelled', next);
      await stage.leave(id);
    },
  },
  {
    rule: 5,
    check: 'a drain is in the answer of the next heartbeat',
    play: async (stage) => {
      const { id } = await stage.register();
      await stage.permitted('operate', stage.client.drainWorker(id));
      const { drain } = await stage.beat(id, []);
      expectThat(drain, 'drain: true', drain);
      await stage.leave(id);
    },
  },
  {
    rule: 6,
    check: 'reports are stored for claims that the worker holds, and stale for others',
    play: async (stage) => {
      const { id } = await stage.register();
      const job = await stage.job(id);
      const foreign = { id: randomUUID(), claim: 1 };
      const logs = [
        { ...claimOf(job), n: 0, lines: [LINE] },
        { ...foreign, n: 0, lines: [LINE] },
      ];
      const progress = [{ ...claimOf(job), fraction: 0.5, message: null }];
      for (let times = 0; times < 2; times += 1) {
        const answer = await stage.post(id, 'say', { logs, progress });
        expectStatus(answer, 200);
        const { stale } = answer.body;
        const right = Array.isArray(stale) && stale.length === 1 && stale[0] === foreign.id;
        expectThat(right, 'the foreign job in stale', stale);
      }
      await stage.succeed(id, job);
      const found = await stage.permitted('jobs:read', lines(stage, job.id));
      expectThat(found === 1, 'one log line, although it was sent twice', `${found} lines`);
      await stage.leave(id);
    },
  },
];

async function lines(stage: Stage, id: string): Promise<number> {
  let count = 0;
  for await (const { message } of stage.client.logs(id)) if (message === LINE.message) count += 1;
  return count;
}
