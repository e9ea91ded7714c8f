import { randomUUID } from 'node:crypto';
import { type Check, expectThat } from '../../check.ts';
import { claimOf, expectStatus, type Stage } from '../stage.ts';

const SUCCESS = { kind: 'success', resultJson: '{"first":true}' } as const;
const FAILURE = { kind: 'failure', error: { message: 'later' } } as const;

export const WORK: readonly Check<Stage>[] = [
  {
    rule: 1,
    check: 'a registration answers the lease and the intervals, and may be repeated',
    play: async (stage) => {
      const { id, reply } = await stage.register();
      const { leaseMs, beatMs, waitMs } = reply;
      const ordered = beatMs > 0 && beatMs <= leaseMs / 2 && waitMs > 0;
      expectThat(ordered, 'beatMs of at most half of leaseMs', reply);
      const body = { host: 'conformance', definitions: [{ key: stage.key }] };
      const { status } = await stage.calls.call({ method: 'PUT', path: id, body });
      expectThat(status === 200, 'status 200 again', status);
      await stage.leave(id);
    },
  },
  {
    rule: 2,
    check: 'a turn brings at most as many jobs as there is room for',
    play: async (stage) => {
      const { id } = await stage.register();
      await stage.enqueue();
      await stage.enqueue();
      const first = await stage.take(id);
      expectThat(first.key === stage.key && first.claim === 1, 'a first claim', first);
      const { jobs } = await stage.turn(id, { room: 0, waitMs: 0 });
      expectThat(jobs.length === 0, 'no job without room', jobs);
      const second = await stage.take(id);
      expectThat(second.id !== first.id, 'another job', second);
      await stage.succeed(id, first);
      await stage.succeed(id, second);
      await stage.leave(id);
    },
  },
  {
    rule: 2,
    check: 'a waiting turn ends when a job comes',
    play: async (stage) => {
      const { id } = await stage.register();
      const waiting = stage.turn(id, { room: 1, waitMs: 30_000 });
      await stage.enqueue();
      const job = (await waiting).jobs[0] ?? (await stage.take(id));
      await stage.succeed(id, job);
      await stage.leave(id);
    },
  },
  {
    rule: 2,
    check: 'an idle turn is for a worker that holds nothing',
    play: async (stage) => {
      const { id } = await stage.register();
      await stage.turn(id, { room: 1, waitMs: 0, idle: true });
      expectStatus(await stage.post(id, 'turn', { room: 1, idle: true, holding: [] }), 400);
      await stage.leave(id);
    },
  },
  {
    rule: 3,
    check: 'an outcome counts once',
    play: async (stage) => {
      const { id } = await stage.register();
      const job = await stage.job(id);
      const next = await stage.settle(id, job, SUCCESS);
      expectThat(next === 'succeeded', 'next: succeeded', next);
      const again = await stage.settle(id, job, SUCCESS);
      expectThat(again === 'succeeded', 'the same answer to the same outcome', again);
      await stage.settle(id, job, FAILURE);
      const found = await stage.permitted('jobs:read', stage.client.get(job.id));
      expectThat(
        found?.status === 'succeeded',
        'a job that has succeeded',
        found?.status ?? 'none',
      );
      expectThat(found.attempts === 1, 'one attempt', found.attempts);
      await stage.leave(id);
    },
  },
  {
    rule: 3,
    check: 'an outcome of an unknown claim does not count',
    play: async (stage) => {
      const { id } = await stage.register();
      const job = await stage.job(id);
      const other = await stage.settle(id, { id: job.id, claim: job.claim + 1 }, SUCCESS);
      expectThat(other === null, 'next: null for another claim', other);
      const unknown = await stage.settle(id, { id: randomUUID(), claim: 1 }, SUCCESS);
      expectThat(unknown === null, 'next: null for another job', unknown);
      const { gone } = await stage.beat(id, [job]);
      expectThat(gone.length === 0, 'that the worker still owns its job', gone);
      await stage.succeed(id, job);
      await stage.leave(id);
    },
  },
  {
    rule: 3,
    check: 'a job that is given back costs no attempt, and comes with the next claim',
    play: async (stage) => {
      const { id } = await stage.register();
      const job = await stage.job(id);
      await stage.settle(id, job, { kind: 'unstarted' });
      const again = await stage.take(id);
      const same = again.id === job.id && again.claim === job.claim + 1;
      expectThat(same, `claim ${job.claim + 1} of the same job`, claimOf(again));
      expectThat(again.attempt === job.attempt, `attempt ${job.attempt}`, again.attempt);
      await stage.succeed(id, again);
      await stage.leave(id);
    },
  },
  {
    rule: 4,
    check: 'a lost job is delivered again with the same claim',
    play: async (stage) => {
      const { id } = await stage.register();
      const held = await stage.job(id);
      const lost = await stage.job(id);
      const { jobs } = await stage.turn(id, { room: 4, holding: [claimOf(held)] });
      const [again] = jobs;
      expectThat(
        jobs.length === 1 && again?.id === lost.id,
        'the lost job only',
        jobs.map(claimOf),
      );
      const same = again.claim === lost.claim && again.attempt === lost.attempt;
      expectThat(same, `claim ${lost.claim}, attempt ${lost.attempt}`, again);
      const both = await stage.turn(id, { room: 4, holding: [claimOf(held), claimOf(lost)] });
      expectThat(both.jobs.length === 0, 'nothing when nothing is lost', both.jobs.map(claimOf));
      await stage.succeed(id, held);
      await stage.succeed(id, lost);
      await stage.leave(id);
    },
  },
  {
    rule: 4,
    check: 'a closed turn takes no job with it',
    play: async (stage) => {
      const { id } = await stage.register();
      const left = new AbortController();
      const body = { room: 1, waitMs: 30_000 };
      const waiting = stage.post(id, 'turn', body, { signal: left.signal }).catch(() => null);
      await stage.beat(id, []);
      left.abort();
      await waiting;
      const other = await stage.register();
      await stage.enqueue();
      const declared = await stage.turn(id, { room: 1, holding: [] });
      const job = declared.jobs[0] ?? (await stage.take(other.id));
      await stage.succeed(declared.jobs[0] ? id : other.id, job);
      await stage.leave(id);
      await stage.leave(other.id);
    },
  },
];
