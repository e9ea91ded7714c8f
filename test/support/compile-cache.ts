import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

/**
 * A test run starts hundreds of processes that load the same sources, and most of the work of such
 * a start is making code of them. Node can keep that: the processes of one run share a folder, each
 * file in it is named after the source it was made from, and nothing outlives the run.
 */

const VARIABLE = 'NODE_COMPILE_CACHE';

/** From now on, the test files of this run share it. Answers with what ends that. */
export async function shareCompileCache(): Promise<() => Promise<void>> {
  if (process.env[VARIABLE] !== undefined) return async () => undefined;
  const folder = await mkdtemp(path.join(tmpdir(), 'longshore-test-compiled-'));
  process.env[VARIABLE] = folder;
  return async () => {
    delete process.env[VARIABLE];
    // A process that is just ending may still put something there.
    await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  };
}

/** For runners that a test starts itself: their environment is chosen for them, and this is let in. */
export const CACHED = { runnerEnv: VARIABLE };

/** For a program with a clean environment, and for the processes that it starts itself. */
export function compileCache(): Record<string, string> {
  const folder = process.env[VARIABLE];
  return folder === undefined ? {} : { [VARIABLE]: folder, LONGSHORE_RUNNER_ENV: CACHED.runnerEnv };
}
