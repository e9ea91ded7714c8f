import { randomUUID } from 'node:crypto';
import { type Check, expectThat, Skipped } from '../../check.ts';
import { claimOf, expectStatus, type Stage } from '../stage.ts';

/** Bodies that a server must refuse. */
const WRONG_TURNS: readonly (object | string)[] = [
  '{"room": ',
  { room: -1 },
  { room: 1, holding: [{ id: 'no id', claim: 1 }] },
  { outcomes: [{ id: randomUUID(), claim: 0, outcome: { kind: 'unstarted' } }] },
  { outcomes: [{ id: randomUUID(), claim: 1, outcome: { kind: 'unheard' } }] },
  { unknown: true },
];

export const REFUSALS: readonly Check<Stage>[] = [
  {
    rule: 7,
    check: 'a call without a key, or with a wrong one, is refused',
    play: async (stage) => {
      if (!stage.calls.hasKey) throw new Skipped('there is no key in LONGSHORE_API_KEY');
      const { id } = await stage.register();
      for (const key of [null, 'lsk_wrong']) {
        expectStatus(await stage.post(id, 'beat', {}, { key }), 401, 403, 404);
        expectStatus(await stage.post(id, 'turn', { room: 1 }, { key }), 401, 403, 404);
      }
      await stage.leave(id);
    },
  },
  {
    rule: 7,
    check: 'a worker cannot write about the job of another one',
    play: async (stage) => {
      const { id } = await stage.register();
      const other = await stage.register();
      const job = await stage.job(id);
      const next = await stage.settle(other.id, job, { kind: 'success', resultJson: '{}' });
      expectThat(next === null, 'next: null', next);
      const { gone } = await stage.beat(other.id, [job]);
      expectThat(gone[0] === job.id, 'the job in gone', gone);
      await stage.succeed(id, job);
      await stage.leave(id);
      await stage.leave(other.id);
    },
  },
  {
    rule: 8,
    check: 'a wrong body is refused with 400',
    play: async (stage) => {
      const { id } = await stage.register();
      for (const body of WRONG_TURNS) expectStatus(await stage.post(id, 'turn', body), 400);
      const wrong = { host: 'conformance', definitions: [] };
      const registration = { method: 'PUT', path: randomUUID(), body: wrong } as const;
      expectStatus(await stage.calls.call(registration), 400);
      await stage.leave(id);
    },
  },
  {
    rule: 8,
    check: 'an outcome that is not valid is refused with 400, and the claim stays',
    play: async (stage) => {
      const { id } = await stage.register();
      const job = await stage.job(id);
      const outcome = { kind: 'success', resultJson: '1 2' };
      const outcomes = [{ ...claimOf(job), outcome }];
      expectStatus(await stage.post(id, 'turn', { outcomes }), 400);
      await stage.succeed(id, job);
      await stage.leave(id);
    },
  },
  {
    rule: 8,
    check: 'gzip is understood',
    play: async (stage) => {
      const { id } = await stage.register();
      expectStatus(await stage.post(id, 'beat', { holding: [] }, { gzip: true }), 200);
      expectStatus(await stage.post(id, 'turn', { room: 0 }, { gzip: true }), 200);
      await stage.leave(id);
    },
  },
  {
    rule: 9,
    check: 'a worker that has left, and one that never registered, get 410',
    play: async (stage) => {
      const { id } = await stage.register();
      const status = await stage.leave(id);
      expectThat(status === 204, 'status 204 for DELETE', status);
      for (const gone of [id, randomUUID(), 'NO-UUID']) {
        expectStatus(await stage.post(gone, 'turn', { room: 1 }), 410);
        expectStatus(await stage.post(gone, 'beat', { holding: [] }), 410);
      }
      const body = { host: 'conformance', definitions: [{ key: stage.key }] };
      expectStatus(await stage.calls.call({ method: 'PUT', path: id, body }), 410);
    },
  },
  {
    rule: 9,
    check: 'the jobs of a worker that has left go to another one',
    play: async (stage) => {
      const { id } = await stage.register();
      const job = await stage.job(id);
      await stage.leave(id);
      const other = await stage.register();
      const again = await stage.take(other.id);
      const later = again.id === job.id && again.claim > job.claim;
      expectThat(later, 'a later claim of the same job', claimOf(again));
      await stage.succeed(other.id, again);
      await stage.leave(other.id);
    },
  },
];
