import type { NewJob } from './job.ts';
import { DEFAULT_MAX_ATTEMPTS } from './definition.ts';

/** What a caller asks for, after the edge has parsed it. Null means "as the definition says". */
export interface JobRequest extends Omit<NewJob, 'id' | 'definitionVersion' | 'maxAttempts'> {
  definitionVersion: number | null;
  maxAttempts: number | null;
}

/** What is published of the newest fitting version, if any worker has ever published the key. */
export interface PublishedDefaults {
  version: number;
  maxAttempts: number;
}

/**
 * A job's policy is fixed when it is made, as far as the database must know it: the version and the
 * number of attempts. An unknown definition is accepted, since its worker may not be up yet.
 */
export function newJob(
  id: string,
  request: JobRequest,
  published: PublishedDefaults | null,
): NewJob {
  return {
    ...request,
    id,
    definitionVersion: request.definitionVersion ?? published?.version ?? 1,
    maxAttempts: request.maxAttempts ?? published?.maxAttempts ?? DEFAULT_MAX_ATTEMPTS,
  };
}
