import { type Broken, lostOnce } from './broken-safety.ts';
import type { HistoryBuilder } from './history-builder.ts';

/** The promises to a single job and to those who watch it, each broken by hand. */
export const BROKEN_JOBS: Broken[] = [
  {
    breaks: ['S10', 'S11'],
    how: 'an execution went on beside the next one',
    make: (h) => {
      const { job, stale } = lostOnce(h);
      h.tick(2_000);
      const mark = { job: job.id, attempt: 1, execution: stale, pid: 7, parent: 8_001 };
      h.effect({ what: 'tick', ...mark });
      job.succeed();
    },
  },
  {
    breaks: ['S10', 'X1'],
    how: 'one claim was run twice',
    make: (h) => {
      h.beat('w1');
      h.job().claim().start().start().succeed();
    },
  },
  {
    breaks: ['S11'],
    how: 'a job outlived the lease of its frozen worker',
    make: (h) => {
      h.beat('w1');
      const job = h.job({ maxAttempts: 1 }).claim().start();
      const fault = h.fault('worker-freeze', ['worker-1']);
      h.tick(4_000);
      job.effect('tick');
      h.bury('w1', 1);
      h.heal(fault);
      job.fail('LEASE_EXPIRED', 'failed');
    },
  },
  {
    breaks: ['S13'],
    how: 'a delayed job began at once',
    make: (h) => {
      h.beat('w1');
      const job = h.job({ delayMs: 5_000 });
      job.spot = { ...job.spot!, state: 'queued', runAt: null };
      h.history.rows.length = 0;
      h.row({ ...job.spot, xid: 'birth', move: 'came' });
      job.claim().start().succeed();
    },
  },
  {
    breaks: ['S13'],
    how: 'a job became due before its backoff was over',
    make: (h) => {
      h.beat('w1');
      const job = h.job().claim().start().effect('throw');
      job.fail('HANDLER_ERROR', 'retrying', job.execution);
      job.spot!.runAt = h.now + 60_000_000;
      job.promote().claim().start().succeed();
    },
  },
  {
    breaks: ['S13'],
    how: 'a snooze ended early',
    make: (h) => {
      h.beat('w1');
      const job = h.job().claim().start().effect('snooze', { delayMs: 9_000 });
      job.move({ place: 'waiting', state: 'scheduled', attempts: 0, runAt: h.now });
      job.promote().claim().start().succeed();
    },
  },
  {
    breaks: ['S35'],
    how: 'a sleep ended early',
    make: (h) => {
      h.beat('w1');
      const job = h.job({ does: 'sleep' }).claim().start().effect('sleep', { delayMs: 9_000 });
      job.effect('crash').fail('CRASHED', 'retrying');
      job.promote().claim().start().effect('sleep', { delayMs: 9_000 }).effect('woke').succeed();
    },
  },
  {
    breaks: ['S35'],
    how: 'a sleep was too long',
    make: (h) => {
      h.beat('w1');
      const job = h.job({ does: 'sleep' }).claim().start().effect('sleep', { delayMs: 50 });
      job.move({ place: 'waiting', state: 'scheduled', attempts: 0, runAt: h.now + 3_600_000 });
      h.tick(4_000);
      job.promote().claim().start().effect('sleep', { delayMs: 50 }).effect('woke').succeed();
    },
  },
  {
    breaks: ['S35'],
    how: 'a job slept twice as long as it asked',
    make: (h) => {
      h.beat('w1');
      const job = h.job({ does: 'sleep' });
      for (let nap = 0; nap < 2; nap += 1) {
        job.claim().start().effect('sleep', { delayMs: 50 });
        job.move({ place: 'waiting', state: 'scheduled', attempts: 0, runAt: h.now + 50_000 });
        h.tick(60);
        job.promote();
      }
      job.claim().start().effect('sleep', { delayMs: 50 }).effect('woke').succeed();
    },
  },
  {
    breaks: ['S31'],
    how: 'a job went on before its child had ended',
    make: (h) => {
      const { parent, child } = parentOfOne(h);
      parent.effect('joined', { jobs: [child.id] });
      h.tick(100);
      child.claim().start().succeed();
      parent.succeed();
    },
  },
  {
    breaks: ['S31'],
    how: 'a job went on without a child that it had spawned',
    make: (h) => {
      const { parent, child } = parentOfOne(h);
      child.claim().start().succeed();
      parent.effect('joined', { jobs: [] }).succeed();
    },
  },
  {
    breaks: ['S31'],
    how: 'a child was made twice',
    make: (h) => {
      const { parent, child } = parentOfOne(h);
      const twin = h.job({ isChild: true, paramsSha: 'one' });
      for (const one of [child, twin]) one.claim().start().succeed();
      parent.effect('joined', { jobs: [twin.id] }).succeed();
    },
  },
  {
    breaks: ['S1', 'S31'],
    how: 'a job still waits, and its child has ended',
    make: (h) => {
      const { parent, child } = parentOfOne(h);
      parent.effect('wait').move({ place: 'waiting', state: 'suspended', attempts: 0 });
      child.claim().start().succeed();
    },
  },
  {
    breaks: ['S30'],
    how: 'a job ran before its parent had ended',
    make: (h) => {
      h.beat('w1');
      const parent = h.job();
      const child = h.job({ after: [parent.id] });
      child.move({ place: 'waiting', state: 'queued' }).claim().start().succeed();
      h.tick(100);
      parent.claim().start().succeed();
    },
  },
  {
    breaks: ['S30'],
    how: 'a job ran although its parent was cancelled',
    make: (h) => {
      h.beat('w1');
      const parent = h.job();
      const child = h.job({ after: [parent.id] });
      parent.move({ place: 'done', state: 'cancelled' });
      h.call({ name: 'cancel', job: parent.id }, { ok: 'cancelled', id: parent.id });
      child.move({ place: 'waiting', state: 'queued' }).claim().start().succeed();
    },
  },
  {
    breaks: ['S1', 'S30'],
    how: 'a job still waits for a parent that has ended',
    make: (h) => {
      h.beat('w1');
      const parent = h.job();
      h.job({ after: [parent.id] });
      parent.claim().start().succeed();
    },
  },
  {
    breaks: ['S1', 'S29'],
    how: 'a signal was acknowledged, and its job still waits for it',
    make: (h) => {
      h.beat('w1');
      const job = h.job({ does: 'wait' }).claim().start().effect('wait');
      h.call({ name: 'signal', job: job.id, token: 't' }, { ok: 'running', id: job.id });
      job.move({ place: 'waiting', state: 'suspended', attempts: 0, runAt: h.now + 3_600_000_000 });
    },
  },
  {
    breaks: ['S29'],
    how: 'a job went on without its signal',
    make: (h) => {
      h.beat('w1');
      const job = h.job({ does: 'wait' }).claim().start().effect('wait');
      job.move({ place: 'waiting', state: 'suspended', attempts: 0, runAt: h.now + 3_600_000_000 });
      job.move({ place: 'waiting', state: 'queued' });
      job.claim().start().succeed();
    },
  },
  {
    breaks: ['S29'],
    how: 'a job timed out after its signal was acknowledged',
    make: (h) => {
      h.beat('w1');
      const job = h.job({ does: 'wait' }).claim().start().effect('wait');
      job.move({ place: 'waiting', state: 'suspended', attempts: 0, runAt: h.now + 3_600_000_000 });
      h.call({ name: 'signal', job: job.id, token: 't' }, { ok: 'queued', id: job.id });
      job.move({ place: 'waiting', state: 'queued' });
      job.claim().start();
      job.fail('SIGNAL_TIMEOUT', 'failed', job.execution);
    },
  },
  {
    breaks: ['S29', 'X1'],
    how: 'a job got one payload, and another one when it ran again',
    make: (h) => {
      h.beat('w1');
      const job = h.job({ does: 'wait' });
      h.call({ name: 'signal', job: job.id, token: 't' }, { ok: 'queued', id: job.id });
      h.call({ name: 'signal', job: job.id, token: 'u' }, 'unknown');
      job.claim().start().effect('signal', { token: 't' });
      job.fail('ERROR', 'retrying', job.execution).promote();
      job.claim().start().effect('signal', { token: 'u' }).succeed();
    },
  },
  {
    breaks: ['S29'],
    how: 'a job got the payload of another signal',
    make: (h) => {
      h.beat('w1');
      const job = h.job({ does: 'wait' });
      h.call({ name: 'signal', job: job.id, token: 't' }, { ok: 'queued', id: job.id });
      job.claim().start().effect('signal', { token: 'other' }).succeed();
    },
  },
  {
    breaks: ['S15'],
    how: 'a slot of a schedule was lost',
    make: (h) => {
      h.beat('w1');
      h.schedule(5, [3_000]);
    },
  },
  {
    breaks: ['S15'],
    how: 'a slot fired twice',
    make: (h) => {
      h.beat('w1');
      h.schedule(5);
      h.job({ slotMs: 3_000 }).claim().start().succeed();
    },
  },
  {
    breaks: ['S15'],
    how: 'a slot is burnt: it says that it fired, and has no job',
    make: (h) => {
      h.beat('w1');
      h.schedule(5, [3_000]);
      const burnt = { throughMs: null, status: 'fired', reason: null, job: 'missing' } as const;
      h.history.slots.push({ schedule: 'schedule-1', slotMs: 3_000, ...burnt });
    },
  },
  {
    breaks: ['S15'],
    how: 'a schedule stopped firing',
    make: (h) => {
      h.beat('w1');
      h.schedule(5);
      h.history.schedules[0]!.untilMs = 60_000;
    },
  },
  {
    breaks: ['S17'],
    how: 'a cancelled job ran',
    make: (h) => {
      h.beat('w1');
      const job = h.job();
      h.call({ name: 'cancel', job: job.id }, { ok: 'cancelled', id: job.id });
      job.claim().start().succeed();
    },
  },
  {
    breaks: ['S17'],
    how: 'a job is cancelled without a request',
    make: (h) => void h.job().move({ place: 'done', state: 'cancelled' }),
  },
  {
    breaks: ['S17'],
    how: 'a cancel was refused although the job had not ended',
    make: (h) => {
      h.beat('w1');
      const job = h.job().claim().start();
      h.call({ name: 'cancel', job: job.id }, { fail: 409 });
      h.tick(1_000);
      job.succeed();
    },
  },
  {
    breaks: ['S18'],
    how: 'half of a batch was stored',
    make: (h) => {
      h.beat('w1');
      const { paramsSha } = h.job({ answer: 'unknown' }).claim().start().succeed();
      const shape = { definition: 'test', does: 'ok', delayMs: 0 };
      const jobs = [paramsSha, 'other'].map((sha) => ({ paramsSha: sha, ...shape }));
      h.call({ name: 'enqueue', key: null, jobs }, 'unknown');
    },
  },
  {
    breaks: ['S21'],
    how: 'a job got the params of another',
    make: (h) => {
      h.beat('w1');
      h.job().claim().start().succeed();
      h.history.effects[0]!.paramsSha = 'of another job';
    },
  },
  {
    breaks: ['S21'],
    how: 'another result was stored than was returned',
    make: (h) => {
      h.beat('w1');
      h.job().claim().start().succeed().resultSha = 'something else';
    },
  },
  {
    breaks: ['S22'],
    how: 'the tables count other attempts than there were',
    make: (h) => {
      h.beat('w1');
      const job = h.job().claim().start().succeed();
      job.spot = { ...job.spot!, attempts: 2 };
    },
  },
  {
    breaks: ['S23'],
    how: 'a dead letter had attempts left',
    make: (h) => {
      h.beat('w1');
      const job = h.job().claim().start().effect('throw');
      job.fail('HANDLER_ERROR', 'failed', job.execution);
    },
  },
  {
    breaks: ['S1', 'S2', 'S24'],
    how: 'a job vanished',
    make: (h) => {
      h.beat('w1');
      const job = h.job().claim().start();
      h.row({ ...job.spot!, xid: 'gone', move: 'left' });
      job.spot = null;
    },
  },
  {
    breaks: ['S25'],
    how: 'a server did not know a job that had been acknowledged',
    make: (h) => {
      h.beat('w1');
      const job = h.job().claim().start().succeed();
      h.call({ name: 'get', job: job.id }, { fail: 404 });
    },
  },
];

/** A running job and its only child. */
function parentOfOne(h: HistoryBuilder) {
  h.beat('w1', 'worker-1', 60_000);
  const spawns = ['one'];
  const parent = h.job({ does: 'spawn', spawns }).claim().start();
  return { parent, child: h.job({ isChild: true, paramsSha: 'one' }) };
}
