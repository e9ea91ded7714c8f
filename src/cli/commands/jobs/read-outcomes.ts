import type { JobOutcomes, Longshore } from '../../../client/index.ts';
import { OUTCOMES_MAX_CHARS } from '../../../core/dependency/dependency.ts';

/**
 * How the parents and children of a job ended, as an attempt on a worker gets them: large results
 * are read, too, as far as there is room.
 */
export async function readOutcomes(
  client: Longshore,
  jobId: string,
  options: { reveal?: true },
): Promise<JobOutcomes> {
  const { parents, children, complete } = await client.outcomes(jobId, options);
  let room = OUTCOMES_MAX_CHARS;
  let isWhole = complete;
  for (const one of [...parents, ...children]) {
    if (one.largeResult === undefined) continue;
    room -= one.largeResult.bytes;
    if (room >= 0) one.result = await client.value(one.jobId, 'result', options);
    else {
      one.omitted = true;
      isWhole = false;
    }
  }
  return { parents, children, complete: isWhole };
}
