import type { Broken } from './broken-safety.ts';
import type { HistoryBuilder } from './history-builder.ts';

const LIMITER = { name: 'narrow', inUse: 0, held: 0, blocked: 0, waiting: 0 };

/** So many jobs of the grouped definition, claimed. */
export function groupedJobs(h: HistoryBuilder, count: number) {
  h.beat('w1');
  return Array.from({ length: count }, () => h.job({ groupSize: 3 }).claim());
}

/** The promises about slots, permits and groups, each broken by hand. */
export const BROKEN_SLOTS: Broken[] = [
  {
    breaks: ['S33'],
    how: 'a job that waits for a signal kept its permit, and got another one when it went on',
    make: (h) => {
      h.beat('w1');
      const job = h.job({ does: 'wait' }).claim().start().effect('wait');
      job.move({ place: 'waiting', state: 'suspended', attempts: 0, runAt: h.now + 3_600_000_000 });
      h.call({ name: 'signal', job: job.id, token: 't' }, { ok: 'queued', id: job.id });
      job.move({ place: 'waiting', state: 'queued' });
      job.claim().start().effect('signal', { token: 't' }).succeed();
      h.history.limiters.push({ ...LIMITER, inUse: 1 });
    },
  },
  {
    breaks: ['S33'],
    how: 'a limit counts a job that waits for it, and there is none',
    make: (h) => void h.history.limiters.push({ ...LIMITER, blocked: 1 }),
  },
  {
    breaks: ['S33'],
    how: 'a worker freed the slot of a job that waits twice, and ran two jobs in one slot',
    make: (h) => {
      h.history.run.slotsPerWorker = 1;
      h.beat('w1');
      const [one, two] = [h.job(), h.job()].map((job) => job.claim().start());
      one!.succeed();
      two!.succeed();
    },
  },
  {
    breaks: ['S10', 'S33', 'X1'],
    how: 'a resumed job ran in two slots at once',
    make: (h) => {
      h.history.run.slotsPerWorker = 1;
      h.beat('w1');
      const job = h.job().claim().start();
      const first = job.execution;
      job.start();
      h.tick(1_000);
      h.effect({ what: 'tick', job: job.id, attempt: 1, execution: first, pid: 7, parent: 8_001 });
      job.succeed();
    },
  },
  {
    breaks: ['S34'],
    how: 'a group had more jobs than its size',
    make: (h) => {
      for (const job of groupedJobs(h, 4)) job.startIn('g').succeed();
    },
  },
  {
    breaks: ['S34'],
    how: 'a job of another definition ran in a group',
    make: (h) => {
      const jobs = [...groupedJobs(h, 1), h.job().claim()];
      for (const job of jobs) job.startIn('g').succeed();
    },
  },
  {
    breaks: ['S10', 'S34', 'X1'],
    how: 'a job was twice in one group',
    make: (h) => {
      const [job] = groupedJobs(h, 1);
      job!.startIn('g').startIn('g').succeed();
    },
  },
  {
    breaks: ['S34', 'X1'],
    how: 'a job failed because another job of its group had failed',
    make: (h) => {
      const [job] = groupedJobs(h, 1);
      job!.startIn('g').effect('end', { resultSha: 'r' }).fail('HANDLER_ERROR', 'retrying');
      job!.promote().claim().startIn('h').succeed();
    },
  },
  {
    breaks: ['S21', 'S34'],
    how: 'a job got the success of another job of its group',
    make: (h) => {
      const [job] = groupedJobs(h, 1);
      job!.startIn('g').effect('throw');
      job!.resultSha = 'that of another job';
      job!.move({ place: 'done', state: 'succeeded' });
    },
  },
];
