import { z } from 'zod';
import {
  type HeldJob,
  TRANSPORTS,
  WORKER_STATUSES,
  type WorkerView,
} from '../../core/queue/worker.ts';

const Moment = z.iso.datetime();
const workerId = z.string().describe('The id of the worker, new at every start.');

export const WorkerIdParams = z.object({
  workerId: z
    .string()
    .describe('The id of the worker.')
    .meta({ examples: ['6a1f0c52-8d0e-4f0b-9a53-1f6c2b7d9e10'] }),
});

const HeldJobAnswer = z.looseObject({
  jobId: z.string(),
  definitionKey: z.string(),
  definitionVersion: z.int(),
  tenant: z.string(),
  startedAt: Moment,
}) satisfies z.ZodType<HeldJob>;

const WorkerAnswer = z
  .looseObject({
    workerId,
    host: z.string(),
    pid: z.int(),
    version: z.string().describe('Version of Longshore.'),
    slots: z.int().describe('Number of concurrent jobs.'),
    running: z.array(z.string()).describe('Ids of its running jobs that you may see.'),
    jobs: z.array(HeldJobAnswer).describe('The same jobs, longest running first.'),
    busy: z.int().describe('Slots in use, by jobs of all tenants.'),
    heartbeatAt: Moment.describe('When it last renewed its lease.'),
    leaseExpiresAt: Moment.describe('It is declared dead if it has not renewed its lease by then.'),
    startedAt: Moment,
    status: z
      .enum(WORKER_STATUSES)
      .describe(
        'A draining worker finishes its jobs and exits; a dead one has exited or was lost.',
      ),
    definitions: z.array(z.string()).describe('Loaded definitions, like image.resize@1.'),
    notLoaded: z
      .array(z.string())
      .describe(
        'Files of definitions that it could not load, each with the reason. Only the default tenant ' +
          'sees those of shared workers.',
      ),
    lost: z
      .boolean()
      .describe('Lost: its process ended, or its lease expired, without a regular exit.'),
    endedBy: z
      .string()
      .nullable()
      .describe(
        'How its process ended, if its parent saw it: a signal such as SIGKILL, or "exit code 1".',
      )
      .meta({ examples: ['SIGKILL'] }),
    transport: z
      .enum(TRANSPORTS)
      .describe('How it gets its jobs: from the database, or from a server over HTTP.'),
    tenant: z.string().nullable().describe('The tenant it serves; null: all tenants.'),
    keyId: z.string().nullable().describe('Its key, if it has one.'),
    address: z.string().nullable().describe('Its network address, over HTTP.'),
    turnAt: Moment.nullable().describe('When it last asked for jobs, over HTTP.'),
  })
  .meta({ id: 'Worker', description: 'A worker.' }) satisfies z.ZodType<WorkerView>;

export const WorkersAnswer = z.looseObject({
  workers: z.array(WorkerAnswer).describe('Active workers first; dead ones for a day.'),
});

export const DrainAnswer = z.looseObject({ workerId, status: z.literal('draining') });
