import { beatingWorkers, type BeatSample } from '../core/queue/lease.ts';
import type { Beats } from '../liveness/beats.ts';
import type { Log } from '../runtime/log.ts';

/** Those of whom a beat can be found; null when Redis does not say, which is no news of anybody. */
export async function beatingAmong(
  samples: readonly BeatSample[],
  beats: Beats,
  log: Log,
): Promise<Set<string> | null> {
  try {
    const owners = await beats.ownersOf(samples.flatMap(({ jobIds }) => jobIds));
    return beatingWorkers(samples, owners);
  } catch (error) {
    log.debug({ err: error }, 'redis does not answer; leases alone decide');
    return null;
  }
}
