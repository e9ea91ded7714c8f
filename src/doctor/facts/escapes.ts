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
 * Runs a probe that tries to escape from the sandbox of a worker with these settings. Null if none
 * could be started, which another check reports.
 */
export async function inspectEscapes(
  config: Config,
  /** Whether a server without keys runs at this address. */
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
