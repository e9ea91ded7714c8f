import type { FastifyRequest } from 'fastify';
import { isWorkerId } from '../../../core/queue/worker.ts';
import { Refusal } from '../../../protocol/refusal.ts';
import { callerOf } from '../../access/caller.ts';
import type { HttpDeps, RemoteWorkersPort, WorkerKey } from '../../deps.ts';
import { unavailable } from '../../problem.ts';

export function portOf({ remoteWorkers }: HttpDeps): RemoteWorkersPort {
  if (!remoteWorkers) throw unavailable('this server does not serve workers over HTTP');
  return remoteWorkers;
}

export function instanceOf({ workerId }: { workerId: string }): string {
  if (isWorkerId(workerId)) return workerId;
  throw new Refusal('WORKER_GONE', 'the id of a worker is a UUID in lower case');
}

export function keyOf(request: FastifyRequest): WorkerKey {
  const { tenant, keyId, definitions } = callerOf(request);
  return { tenant, keyId: keyId ?? '', patterns: definitions, address: request.clientAddress };
}
