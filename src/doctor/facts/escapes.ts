import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { defaultUrl } from '../../config/bind.ts';
import { CONFIG_FILE, secretsInFile } from '../../config/config-file.ts';
import type { Config } from '../../config/config.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { probeIsolation } from '../../worker/probe.ts';
import type { EscapeFacts } from '../escapes.ts';

/**
 * Lets a process try to escape from where a worker with these settings would run its jobs. Null when
 * none could be started, of which another check tells.
 */
export async function lookAtEscapes(
  config: Config,
  /** Whether a server runs at the address of these settings, without keys. */
  isOpen: boolean,
  clock: Clock,
  log: Log,
): Promise<EscapeFacts | null> {
  const { jobs, runnerEnv, databaseUrl, data } = config;
  const runnerUids = process.getuid?.() === 0 ? config.runnerUids : 'none';
  const password = resolve(data, 'pg', 'longshore-password');
  try {
    return await probeIsolation({
      jobs,
      runnerEnv,
      runnerUids,
      databaseFile: databaseUrl === null && existsSync(password) ? password : null,
      configFile: secretsInFile(process.cwd()).length > 0 ? join(process.cwd(), CONFIG_FILE) : null,
      openServer: isOpen ? defaultUrl(config) : null,
      clock,
      log,
    });
  } catch (error) {
    log.debug({ err: error }, 'no probe could be started');
    return null;
  }
}
