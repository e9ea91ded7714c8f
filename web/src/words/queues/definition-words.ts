import type { PublishedDefinition } from '../../../../src/client/job.ts';
import { RUNNER_MEMORY_MB, THREAD_MEMORY_MB } from '../../../../src/core/definition/definition.ts';
import { groupProblem } from '../../../../src/core/definition/group.ts';
import type { WorkerView } from '../../../../src/core/queue/worker.ts';
import { duration } from '../../../../src/core/values/duration.ts';

export { newestVersions } from '../../../../src/core/definition/owners.ts';

/** The retry policy in words. */
export function retryWords({ retry, maxAttempts }: PublishedDefinition): string {
  if (maxAttempts === 1) return 'No retries';
  if ('delaysMs' in retry) {
    const delays = retry.delaysMs.map((delay) => (delay === 0 ? 'at once' : duration(delay)));
    return delays.map((delay) => (delay === 'at once' ? delay : `after ${delay}`)).join(', then ');
  }
  return `after ${duration(retry.baseMs)}, doubling up to ${duration(retry.maxMs)}`;
}

const ISOLATIONS: Record<PublishedDefinition['isolation'], string> = {
  process: 'a reused child process',
  fresh: 'a new child process per job',
  thread: 'a worker thread',
  inline: 'the worker process (cannot be killed)',
};

export function isolationWords({ isolation, command }: PublishedDefinition): string {
  return command === null ? ISOLATIONS[isolation] : `the program ${command.join(' ')}`;
}

/** Null when each job runs alone. An older server says nothing of groups. */
export function groupWords({ group }: Pick<PublishedDefinition, 'group'>): string | null {
  if (!group) return null;
  return `up to ${group.size} jobs in one call; the first waits up to ${duration(group.waitMs)}`;
}

/** What keeps its groups below their size on the workers that serve it; null when nothing does. */
export function groupNotice(
  { key, version, group }: Pick<PublishedDefinition, 'key' | 'version' | 'group'>,
  workers: readonly WorkerView[],
): string | null {
  const slots = workers.flatMap(({ status, definitions, slots }) =>
    status === 'active' && definitions.includes(`${key}@${version}`) ? [slots] : [],
  );
  if (slots.length === 0) return null;
  const who = slots.length === 1 ? 'its worker' : 'its largest worker';
  return groupProblem(group, Math.max(...slots), who);
}

/** The server does not know the setting of each worker, only the default of that setting. */
export function memoryWords({ memoryMb, isolation }: PublishedDefinition): string {
  if (memoryMb !== null) return memoryMb === 0 ? 'no limit' : `${memoryMb} MiB`;
  if (isolation === 'inline') return 'no limit of its own: it uses the memory of the worker';
  if (isolation === 'thread') return `${THREAD_MEMORY_MB} MiB, the default of a thread`;
  return `default of the worker (${RUNNER_MEMORY_MB} MiB unless configured)`;
}
