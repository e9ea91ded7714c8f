import { PgBoss, type Job } from 'pg-boss';
import type { Adapter, Aim, OpenOptions, Params } from './system.ts';

const queue = 'noop';

/**
 * Without NOTIFY its enqueues are faster and its backlog fetch is the same, so it is on only where
 * latency is what counts: pg-boss is measured at its best in both.
 */
function connect(url: string, aim: Aim): PgBoss {
  const boss = new PgBoss({ connectionString: url, useListenNotify: aim === 'latency' });
  boss.on('error', () => {});
  return boss;
}

export const adapter: Adapter = {
  async prepare(url, aim) {
    const boss = connect(url, aim);
    await boss.start();
    await boss.createQueue(queue, { notify: aim === 'latency' });
    await boss.stop({ graceful: false });
  },
  async open({ url, aim, role, awaits = false, handler }: OpenOptions) {
    const boss = connect(url, aim);
    await boss.start();
    if (role !== 'producer') {
      await boss.work<Params>(
        queue,
        {
          batchSize: 1_000,
          localConcurrency: 2,
          burstWhenBatchFull: true,
          pollingIntervalSeconds: 0.5,
        },
        async (jobs: Job<Params>[]) => {
          if (awaits) await Promise.all(jobs.map(async (job) => await handler(job.data)));
          else for (const job of jobs) void handler(job.data);
        },
      );
    }
    return {
      enqueue: async (params) => await boss.send(queue, params),
      enqueueMany: async (list) =>
        await boss.insert(
          queue,
          list.map((data) => ({ data })),
        ),
      stop: async () => await boss.stop({ graceful: false }),
    };
  },
};
