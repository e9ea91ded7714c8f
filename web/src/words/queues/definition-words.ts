import type { PublishedDefinition } from '../../../../src/client/job.ts';
import { duration } from '../../../../src/core/values/duration.ts';

/** The newest version of each key, by name. */
export function newestVersions(all: readonly PublishedDefinition[]): PublishedDefinition[] {
  const newest = new Map<string, PublishedDefinition>();
  for (const one of all) {
    if ((newest.get(one.key)?.version ?? 0) < one.version) newest.set(one.key, one);
  }
  return [...newest.values()].sort((a, b) => a.key.localeCompare(b.key));
}

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
