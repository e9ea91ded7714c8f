import { beatingWorkers, type BeatSample } from '../core/queue/lease.ts';
import type { Beats } from '../liveness/beats.ts';
import type { Log } from '../runtime/log.ts';

/** The workers with a current heartbeat; null when Redis does not answer. */
export async function beatingAmong(
  samples: readonly BeatSample[],
  beats: Beats,
  log: Log,
): Promise<Set<string> | null> {
  try {
    const owners = await beats.ownersOf(samples.flatMap(({ jobIds }) => jobIds));
    return beatingWorkers(samples, owners);
  } catch (error) {
    log.debug({ err: error }, 'redis does not answer; using database leases only');
    return null;
  }
}
