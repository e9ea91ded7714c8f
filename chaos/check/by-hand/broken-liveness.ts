import { type Broken } from './broken-safety.ts';
import type { HistoryBuilder } from './history-builder.ts';
import { pidOf } from './job-builder.ts';

/** The promises about time, processes and reasons, each broken by hand. */
export const BROKEN_LIVENESS: Broken[] = [
  {
    breaks: ['L1'],
    how: 'draining took too long',
    make: (h) => {
      h.phase('drain');
      h.tick(60_000);
      h.phase('drained');
    },
  },
  {
    breaks: ['L2'],
    how: 'a lost job was brought back far too late',
    make: (h) => {
      h.beat('w1');
      const job = h.job({ maxAttempts: 1 }).claim().start();
      h.fault('worker-kill', ['worker-1'], { pids: [pidOf('worker-1')] });
      h.exit('worker-1');
      h.bury('w1');
      h.tick(30_000);
      job.fail('LEASE_EXPIRED', 'failed');
    },
  },
  {
    breaks: ['L2'],
    how: 'a worker was back under another id, and its former jobs waited for a long lease',
    make: (h) => {
      h.history.run.hearsayMs = 60_000;
      h.beat('w1', 'worker-1', 40_000);
      const job = h.job().claim().start();
      const fault = h.fault('link-blackhole', ['worker-1']);
      h.tick(6_000);
      h.heal(fault);
      h.beat('w3');
      h.bury('w1', 34_500);
      job.fail('LEASE_EXPIRED', 'queued').claim('w3').start().succeed();
    },
  },
  {
    breaks: ['L3'],
    how: 'a job without a hint was not found by polling',
    make: (h) => {
      h.beat('w1');
      const job = h.job({ does: 'probe' });
      h.tick(20_000);
      h.beat('w1');
      job.claim().start().succeed();
    },
  },
  {
    breaks: ['L5'],
    how: 'a worker stayed silent after the database was back',
    make: (h) => {
      h.beat('w1');
      h.heal(h.fault('postmaster-kill', ['postgres']));
      h.job().claim().start().succeed();
      h.beat('w2', 'worker-2');
      h.tick(20_000);
    },
  },
  {
    breaks: ['L8'],
    how: 'a cancel did not reach the running job',
    make: (h) => {
      h.beat('w1');
      const job = h.job({ does: 'slow' }).claim().start();
      job.move({ place: 'running', state: 'cancelling' });
      h.call({ name: 'cancel', job: job.id }, { ok: 'cancelling', id: job.id });
      h.tick(15_000);
      job.succeed();
    },
  },
  {
    breaks: ['L10'],
    how: 'a worker that was asked to stop let its lease run out',
    make: (h) => {
      h.beat('w1');
      const job = h.job({ maxAttempts: 1 }).claim().start();
      h.fault('worker-stop', ['worker-1'], { pids: [pidOf('worker-1')] });
      h.exit('worker-1', pidOf('worker-1'), null);
      h.bury('w1');
      job.fail('LEASE_EXPIRED', 'failed');
    },
  },
  {
    breaks: ['L11'],
    how: 'a process outlived its servers',
    make: (h) => h.history.leftovers.processes.push('node runner/main.ts'),
  },
  {
    breaks: ['L12'],
    how: 'a job stayed queued although a worker had nothing to do',
    make: (h) => {
      h.beat('w1');
      const job = h.job();
      for (let second = 0; second < 8; second += 1) {
        h.tick(1_000);
        h.beat('w1');
      }
      job.claim().start().succeed();
    },
  },
  {
    breaks: ['L13'],
    how: 'a job fell silent and was ended by its time limit only',
    make: (h) => {
      h.beat('w1');
      const job = h.job({ does: 'stall', stallTimeoutMs: 1_000 }).claim().start().effect('stall');
      for (let second = 0; second < 8; second += 1) {
        h.tick(1_000);
        h.beat('w1');
      }
      job.fail('TIMEOUT', 'retrying').promote().claim().start().succeed();
    },
  },
  {
    breaks: ['X1'],
    how: 'a job with signs of life was ended as stalled',
    make: (h) => {
      h.beat('w1');
      const job = h.job({ does: 'stall', stallTimeoutMs: 1_000 }).claim().start().effect('tick');
      job.fail('STALLED', 'retrying').promote().claim().start().succeed();
    },
  },
  { breaks: ['P1'], how: 'a server ended by itself', make: (h) => h.exit('api-1', pidOf('api-1')) },
  {
    breaks: ['P1'],
    how: 'a server ended while it started',
    make: (h) => {
      h.history.processes.push({ at: h.tick(), slot: 'api-2', pid: 77, phase: 'spawn' });
      h.exit('api-2', 77, null);
    },
  },
  {
    breaks: ['X1'],
    how: 'a job ran again for no reason',
    make: (h) => {
      h.beat('w1');
      h.beat('w2', 'worker-2');
      const job = h.job().claim().start();
      h.bury('w1');
      job.fail('LEASE_EXPIRED', 'queued').claim('w2').start('worker-2').succeed();
    },
  },
  {
    breaks: ['X2'],
    how: 'nothing interesting happened',
    make: (h) => h.history.run.sometimes.push('a job was rescued'),
  },
  {
    breaks: ['X2'],
    how: 'the large batch was not filled',
    make: (h) => {
      h.history.run.batchJobs = 10_000;
      h.history.run.sometimes.push('the large batch got all of its jobs');
    },
  },
  {
    breaks: ['X2'],
    how: 'the large fan-out was smaller than it should be',
    make: (h) => fanOut(h, 3),
  },
  {
    breaks: ['X2'],
    how: 'the parent of the large fan-out read other results than its children returned',
    make: (h) => fanOut(h, 2, ([first]) => [first ?? null, 'result of another']),
  },
];

type Shas = (string | null)[];

/** A job whose two children end well, and which goes on; so many `children` are demanded. */
function fanOut(h: HistoryBuilder, children: number, read = (results: Shas) => results): void {
  h.history.run.fanOut = children;
  h.history.run.sometimes.push('the large fan-out got all of its children and their results');
  h.beat('w1');
  const spawns = ['one', 'two'];
  const parent = h.job({ does: 'spawn', spawns }).claim().start();
  const jobs = spawns.map((paramsSha) => h.job({ isChild: true, paramsSha }));
  for (const child of jobs) child.claim().start().succeed();
  const resultShas = read(jobs.map(({ resultSha }) => resultSha));
  parent.effect('joined', { jobs: jobs.map(({ id }) => id), resultShas }).succeed();
}
