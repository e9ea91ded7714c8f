import { z } from 'zod';
import { WORKER_STATUSES, type WorkerView } from '../../core/queue/worker.ts';

const Moment = z.iso.datetime();
const workerId = z.string().describe('The id of this life of the worker: a new one each start.');

export const WorkerIdParams = z.object({
  workerId: z
    .string()
    .describe('The id that GET /v1/workers shows.')
    .meta({ examples: ['6a1f0c52-8d0e-4f0b-9a53-1f6c2b7d9e10'] }),
});

const WorkerAnswer = z
  .looseObject({
    workerId,
    host: z.string(),
    pid: z.int(),
    version: z.string().describe('Of Longshore.'),
    slots: z.int().describe('How many jobs it runs at the same time.'),
    running: z.array(z.string()).describe('The ids of the jobs it holds.'),
    heartbeatAt: Moment.describe('When it last renewed its lease.'),
    leaseExpiresAt: Moment.describe('It is declared dead when it has not renewed by then.'),
    startedAt: Moment,
    status: z
      .enum(WORKER_STATUSES)
      .describe('A draining worker finishes what it runs and leaves; a dead one is gone.'),
    definitions: z.array(z.string()).describe('What it has loaded, like image.resize@1.'),
    lost: z.boolean().describe('It went without a word: its lease ran out.'),
  })
  .meta({ id: 'Worker', description: 'A worker, alive or gone.' }) satisfies z.ZodType<WorkerView>;

export const WorkersAnswer = z.looseObject({
  workers: z.array(WorkerAnswer).describe('Those that live first; dead ones for a day.'),
});

export const DrainAnswer = z.looseObject({ workerId, status: z.literal('draining') });
