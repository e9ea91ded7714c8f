import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Config } from '../../config/config.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { tryRunner } from '../../worker/runners/start-check.ts';
import type { DefinitionFacts } from '../definitions.ts';
import type { IsolationFacts } from '../isolation.ts';
import type { RunnerUserFacts } from '../runner-user.ts';
import { troubleOf } from './trouble.ts';

export interface StartCheckFacts {
  definitions: DefinitionFacts;
  user: Pick<RunnerUserFacts, 'hasUsers' | 'warning'>;
  /** Null if no process could be started. */
  isolation: IsolationFacts | null;
}

/** Loads the definitions in a separate process, as a worker does; runs none of them. */
export async function inspectRunner(
  config: Config,
  clock: Clock,
  log: Log,
): Promise<StartCheckFacts> {
  const { jobs: path, runnerEnv, runnerUids } = config;
  // A missing permission to change the user is reported by another check; the rest is checked as
  // well.
  const user = { runnerUids: process.getuid?.() === 0 ? runnerUids : 'none' };
  try {
    const trial = await tryRunner({ jobs: path, runnerEnv, ...user, clock, log });
    const { report, shell, found, hasUsers, warning } = trial;
    const { definitions, problems } = report;
    return {
      isolation: { shell, found },
      user: { hasUsers, warning },
      definitions: existsSync(resolve(path))
        ? { path, state: 'loaded', count: definitions.length, problems }
        : { path, state: 'missing' },
    };
  } catch (error) {
    const { reason } = troubleOf(error);
    const unknown = { hasUsers: null, warning: null };
    return { isolation: null, user: unknown, definitions: { path, state: 'failed', reason } };
  }
}
