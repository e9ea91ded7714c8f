import { maskUrl } from '../../config/mask.ts';
import { RedisBeats } from '../../liveness/redis-beats.ts';
import type { Log } from '../../runtime/log.ts';
import type { RedisFacts } from '../redis.ts';
import { troubleOf } from './trouble.ts';

/** Sends an empty heartbeat. */
export async function inspectRedis(url: string, log: Log): Promise<RedisFacts> {
  const where = maskUrl(url);
  const beats = new RedisBeats({ url, ttlMs: 1_000, log });
  try {
    await beats.start();
  } catch (error) {
    return { state: 'refused', message: (error as Error).message };
  }
  try {
    await beats.beat('doctor', []);
    return { state: 'answers', where };
  } catch (error) {
    return { state: 'silent', where, reason: troubleOf(error).reason };
  } finally {
    await beats.stop();
  }
}
