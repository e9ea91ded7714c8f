import { BatchBuilder } from './batch-builder.ts';
import { groupedJobs } from './broken-slots.ts';
import { twoDeployments } from './broken-deployments.ts';
import type { HistoryBuilder } from './history-builder.ts';
import { pidOf } from './job-builder.ts';

/** What may happen in a healthy system, faults included. The checker must have nothing to say. */
export const SOUND: Record<string, (h: HistoryBuilder) => void> = {
  'a job that succeeds': (h) => {
    h.beat('w1');
    h.job().claim().start().succeed();
  },
  'a job that throws and is tried again': (h) => {
    h.beat('w1');
    const job = h.job().claim().start().effect('throw');
    job.fail('HANDLER_ERROR', 'retrying', job.execution).promote().claim().start().succeed();
  },
  'two jobs of a limit of one, one after the other': (h) => {
    h.beat('w1');
    const limits = [{ name: 'narrow', most: 1 }];
    const [first, second] = [h.job({ limits }), h.job({ limits })];
    first.claim().start().succeed();
    second.claim().start().succeed();
  },
  'a dead letter': (h) => {
    h.beat('w1');
    const job = h.job({ maxAttempts: 1 }).claim().start().effect('throw');
    job.fail('HANDLER_ERROR', 'failed', job.execution);
  },
  'a job that falls silent and is tried again': (h) => {
    h.beat('w1');
    const job = h
      .job({ does: 'stall', stallTimeoutMs: 1_000 })
      .claim()
      .start()
      .effect('tick')
      .effect('stall');
    h.tick(1_300);
    h.beat('w1');
    job.fail('STALLED', 'retrying').promote().claim().start().succeed();
  },
  'a rescue after a kill': (h) => {
    h.beat('w1');
    h.beat('w2', 'worker-2');
    const job = h.job().claim().start();
    const fault = h.fault('worker-kill', ['worker-1'], { pids: [8_001] });
    h.exit('worker-1');
    h.bury('w1');
    h.heal(fault);
    job.fail('LEASE_EXPIRED', 'queued').claim('w2').start('worker-2').succeed();
  },
  'a server that was killed while it started': (h) => {
    h.history.processes.push({ at: h.tick(), slot: 'api-2', pid: 77, phase: 'spawn' });
    const fault = h.fault('api-kill', ['api-2'], { pids: [77] });
    h.exit('api-2', 77);
    h.heal(fault);
  },
  'the worker process of a server that was killed, which stops in good order': (h) => {
    const pid = pidOf('start-1');
    const spawned = { slot: 'start-1', phase: 'spawn' } as const;
    h.process('start-1', 77);
    h.history.processes.push({ ...spawned, at: h.tick(), pid, parent: 77 });
    h.beat('w1', 'start-1');
    const fault = h.fault('start-kill', ['start-1'], { pids: [77] });
    h.exit('start-1', 77);
    h.bury('w1', 100);
    h.history.processes.push({ ...spawned, at: h.tick(), pid, parent: 77, phase: 'exit' });
    h.heal(fault);
  },
  'a job that kills its workers': (h) => {
    h.beat('w1');
    const job = h.job({ maxAttempts: 1, does: 'poison' }).claim().start().effect('kill-worker');
    h.exit('worker-1');
    h.bury('w1');
    job.fail('LEASE_EXPIRED', 'failed');
  },
  'an enqueue of unknown result, sent again': (h) => {
    h.beat('w1');
    const job = h.job({ key: 'k', answer: 'unknown' });
    const wanted = { paramsSha: job.paramsSha, definition: 'test', does: 'ok', delayMs: 0 };
    h.call({ name: 'enqueue', key: 'k', jobs: [wanted] }, { ok: 'queued', id: job.id });
    job.claim().start().succeed();
  },
  'an enqueue of unknown result that was never stored': (h) => {
    h.job({ answer: 'unknown', stored: false });
  },
  'a delayed job, snoozed once': (h) => {
    h.beat('w1');
    const job = h.job({ delayMs: 100 });
    h.tick(100);
    job.promote().claim().start().effect('snooze', { delayMs: 50 });
    job.move({ place: 'waiting', state: 'scheduled', attempts: 0, runAt: h.now + 50_000 });
    h.tick(60);
    job.promote().claim().start().succeed();
  },
  'a job that slept, and one that was lost when its sleep was stored': (h) => {
    h.beat('w1');
    const job = h.job({ does: 'sleep' }).claim().start().effect('sleep', { delayMs: 50 });
    job.move({ place: 'waiting', state: 'scheduled', attempts: 0, runAt: h.now + 50_000 });
    h.tick(60);
    job.promote().claim().start().effect('sleep', { delayMs: 50 }).effect('woke').succeed();
    const lost = h.job({ does: 'sleep' }).claim().start().effect('sleep', { delayMs: 50 });
    lost.effect('crash').fail('CRASHED', 'retrying');
    h.tick(60);
    lost.promote().claim().start().effect('sleep', { delayMs: 50 }).effect('woke').succeed();
  },
  'a job that waits for a signal, and one whose signal came early': (h) => {
    h.beat('w1');
    const job = h.job({ does: 'wait' }).claim().start().effect('wait');
    job.move({ place: 'waiting', state: 'suspended', attempts: 0, runAt: h.now + 3_600_000_000 });
    h.call({ name: 'signal', job: job.id, token: 't' }, { ok: 'queued', id: job.id });
    job.move({ place: 'waiting', state: 'queued' });
    job.claim().start().effect('signal', { token: 't' }).succeed();
    const early = h.job({ does: 'wait' });
    h.call({ name: 'signal', job: early.id, token: 'e' }, 'unknown');
    early.claim().start().effect('signal', { token: 'e' }).succeed();
  },
  'a job after two others, and one that failed with its parent': (h) => {
    h.beat('w1');
    const [one, two] = [h.job(), h.job()];
    const child = h.job({ after: [one.id, two.id] });
    for (const parent of [one, two]) parent.claim().start().succeed();
    child.move({ place: 'waiting', state: 'queued' }).claim().start().succeed();
    const failed = h.job();
    const follower = h.job({ after: [failed.id] });
    failed.move({ place: 'done', state: 'cancelled' });
    h.call({ name: 'cancel', job: failed.id }, { ok: 'cancelled', id: failed.id });
    follower.move({ place: 'done', state: 'cancelled' });
    h.call({ name: 'cancel', job: follower.id }, { ok: 'cancelled', id: follower.id });
  },
  'a job that spawned two jobs, in two attempts, and waited for them': (h) => {
    h.history.run.fanOut = 2;
    h.history.run.sometimes.push('the large fan-out got all of its children and their results');
    h.beat('w1');
    const parent = h
      .job({ does: 'spawn', spawns: ['one', 'two'] })
      .claim()
      .start();
    const one = h.job({ isChild: true, paramsSha: 'one' });
    parent.effect('throw').fail('HANDLER_ERROR', 'retrying', parent.execution);
    parent.promote().claim().start();
    const two = h.job({ isChild: true, paramsSha: 'two' });
    parent.effect('wait').move({ place: 'waiting', state: 'suspended', attempts: 1 });
    for (const child of [one, two]) child.claim().start().succeed();
    parent.move({ place: 'waiting', state: 'queued' }).claim().start();
    const resultShas = [one.resultSha, two.resultSha];
    parent.effect('joined', { jobs: [one.id, two.id], resultShas }).succeed();
  },
  'a batch, its callbacks, and jobs that were added by a request that was sent again': (h) => {
    const b = new BatchBuilder(h);
    b.run(b.jobs[0]!);
    b.add(['late'], 'unknown');
    const late = b.member('late');
    b.add(['late']);
    const call = { name: 'close-batch', batch: b.batch.id } as const;
    h.call(call, { ok: 'suspended', id: b.batch.id });
    for (const job of [b.jobs[1]!, late]) b.run(job);
    b.end(3).callAll();
  },
  'a batch that failed with one of its jobs': (h) => {
    const b = new BatchBuilder(h);
    b.fail(b.jobs[0]!);
    b.run(b.jobs[1]!);
    b.end(1, 1).call(b.onComplete, 'failed');
    b.drop(b.onSuccess);
  },
  'a batch that was cancelled with a job that had not ended': (h) => {
    const b = new BatchBuilder(h);
    b.run(b.jobs[0]!);
    b.cancel();
    b.jobs[1]!.move({ place: 'done', state: 'cancelled' });
    h.history.members[1]!.ended = 'cancelled';
    const counts = { total: 2, succeeded: 1, failed: 0, cancelled: 1 };
    b.batch.batchResult = JSON.stringify(counts);
    b.batch.move({ place: 'done', state: 'cancelled' });
    b.call(b.onComplete, 'cancelled');
    b.drop(b.onSuccess);
  },
  'a group of three, of which one fails and runs again in another group': (h) => {
    const jobs = groupedJobs(h, 3);
    for (const job of jobs) job.startIn('g');
    const [failed, ...others] = jobs;
    for (const job of others) job.succeed();
    failed!.effect('throw').fail('HANDLER_ERROR', 'retrying', failed!.execution);
    failed!.promote().claim().startIn('h').succeed();
  },
  'cancels, of a waiting and of a running job': (h) => {
    h.beat('w1');
    const waiting = h.job().move({ place: 'done', state: 'cancelled' });
    h.call({ name: 'cancel', job: waiting.id }, { ok: 'cancelled', id: waiting.id });
    const running = h.job({ does: 'slow' }).claim().start();
    running.move({ place: 'running', state: 'cancelling' });
    h.call({ name: 'cancel', job: running.id }, { ok: 'cancelling', id: running.id });
    running.effect('abort').move({ place: 'done', state: 'cancelled' });
    h.call({ name: 'cancel', job: running.id }, { fail: 409 });
  },
  'a worker that fenced itself, is back, and ends its former lease': (h) => {
    h.beat('w1', 'worker-1', 120_000);
    const job = h.job().claim().start();
    h.heal(h.fault('link-blackhole', ['worker-1']));
    h.tick(2_500);
    h.beat('w3');
    h.bury('w1', 10);
    job.fail('LEASE_EXPIRED', 'queued').claim('w3').start().succeed();
  },
  'a job that waits for long, because its worker has no slot left': (h) => {
    h.history.run.slotsPerWorker = 1;
    h.beat('w1');
    const first = h.job({ does: 'slow' }).claim().start();
    const second = h.job();
    for (let passed = 0; passed < 8; passed += 1) {
      h.tick(1_000);
      h.beat('w1');
    }
    first.succeed();
    second.claim().start().succeed();
  },
  'a worker that is asked to stop': (h) => {
    h.beat('w1');
    const job = h.job().claim().start();
    const pids = [8_001];
    const fault = h.fault('worker-stop', ['worker-1'], { pids });
    job.fail('INTERRUPTED', 'queued');
    if (job.spot) job.spot = { ...job.spot, attempts: 0 };
    h.history.rows.at(-1)!.attempts = 0;
    h.bury('w1', 10);
    h.exit('worker-1');
    h.heal(fault);
    h.beat('w2', 'worker-2');
    job.claim('w2').start('worker-2').succeed();
  },
  'a refused outcome of a worker that lost its lease': (h) => {
    h.beat('w1');
    h.beat('w2', 'worker-2');
    const job = h.job().claim().start();
    const fault = h.fault('success-stall', ['worker-1']);
    h.bury('w1');
    job.fail('LEASE_EXPIRED', 'queued').claim('w2').start('worker-2');
    h.heal(fault);
    const refused = { what: 'stale-refused', slot: 'worker-1', job: job.id, claim: 1 } as const;
    h.history.notices.push({ at: h.tick(), ...refused });
    job.succeed();
  },
  'a rollback, with a job that keeps its deployment and one that gets it when it is due': (h) => {
    h.beat('w1');
    const early = h.job({ version: 1 });
    twoDeployments(h);
    const kept = h.job({ version: 2 }).claim().start().effect('throw');
    const later = h.job({ version: 0, delayMs: 1_500 });
    h.release(1);
    // An API may not know it yet.
    h.job({ version: 2 }).claim().start().succeed();
    kept.fail('HANDLER_ERROR', 'retrying', kept.execution).promote().claim().start().succeed();
    early.claim().start().succeed();
    h.tick(1_500);
    h.beat('w1');
    later.version = 1;
    later.promote().claim().start().succeed();
  },
  'a schedule, with slots that collapsed into one': (h) => {
    h.beat('w1');
    h.schedule(9, [4_000, 5_000, 6_000]);
    const slot = { schedule: 'schedule-1', slotMs: 4_000, throughMs: 6_000 };
    h.history.slots.push({ ...slot, status: 'collapsed', reason: 'missed', job: null });
  },
};
