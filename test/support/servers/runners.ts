import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import type { DefinitionInfo } from '../../../src/core/definition/definition.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import type { AbortReason } from '../../../src/worker/ipc.ts';
import type { JobMessage, Runner, RunnerExit } from '../../../src/worker/runners/runner.ts';
import { Runners, type RunnersOptions } from '../../../src/worker/runners/runners.ts';
import { Watchdog } from '../../../src/worker/watchdog.ts';
import { CACHED } from '../compile-cache.ts';
import { FIXTURES } from '../processes.ts';

/** Runners as a worker has them, with a real watchdog and no database. */

/** How a job ended, and all that was heard of it until then. */
export interface Ran {
  runner: Runner;
  outcome: Extract<JobMessage, { type: 'outcome' }> | null;
  exit: RunnerExit | null;
  messages: JobMessage[];
  output: string[];
}

export interface Begun {
  runner: Runner;
  messages: JobMessage[];
  output: string[];
  abort(reason: AbortReason): void;
  /** Resolves at its end, when its runner has been released. */
  ended: Promise<Ran>;
}

export interface TestRunners {
  watchdog: Watchdog;
  definition(key: string): DefinitionInfo;
  begin(key: string, params?: unknown, tenant?: string): Promise<Begun>;
  run(key: string, params?: unknown, tenant?: string): Promise<Ran>;
  stop(): Promise<void>;
}

/** Of the jobs in a folder of `fixtures/runners`, or at a path. */
export async function testRunners(
  folder: string,
  options: Partial<RunnersOptions> = {},
): Promise<TestRunners> {
  const watchdog = new Watchdog(systemClock, silentLog);
  const runners = new Runners({
    jobs: resolve(FIXTURES, 'runners', folder),
    slots: 2,
    watchdog,
    clock: systemClock,
    log: silentLog,
    ...CACHED,
    ...options,
  });
  await watchdog.start();
  await runners.start();
  const { problems, warnings = [] } = runners.report;
  const refused = [...problems, ...warnings];
  if (refused.length > 0) throw new Error(refused.join('\n'));

  const definition = (key: string) => {
    const found = runners.report.definitions.find((one) => one.key === key);
    if (!found) throw new Error(`no definition ${key}`);
    return found;
  };

  const begin = async (key: string, params: unknown = {}, tenant = 'default'): Promise<Begun> => {
    const { version, maxAttempts } = definition(key);
    const source = runners.source(definition(key));
    const runner = await source.acquire(tenant);
    // Most jobs are claimed once, so the numbers of those that follow each other are the same.
    const claim = 1;
    const messages: JobMessage[] = [];
    const output: string[] = [];
    const ended = new Promise<Ran>((resolve) => {
      const end = (ran: Pick<Ran, 'outcome' | 'exit'>) => {
        source.release(runner);
        resolve({ runner, messages, output, ...ran });
      };
      const facts = { id: randomUUID(), tenant: 'default', claim, attempt: 1, maxAttempts };
      const job = { ...facts, key, version };
      runner.give(job, JSON.stringify(params), {
        onPartOfLine: () => undefined,
        onOutput: (stream, line) => output.push(`${stream}: ${line}`),
        onExit: (exit) => end({ outcome: null, exit }),
        onMessage: (message) => {
          if (message.type === 'outcome') end({ outcome: message, exit: null });
          else messages.push(message);
          if (message.type === 'save') runner.saved(claim, message.seq, { problem: null });
        },
      });
    });
    const abort = (reason: AbortReason) => runner.abort(claim, reason);
    return { runner, messages, output, abort, ended };
  };

  return {
    watchdog,
    definition,
    begin,
    run: async (key, params, tenant) => await (await begin(key, params, tenant)).ended,
    stop: async () => {
      await runners.stop();
      await watchdog.stop();
    },
  };
}

/** What a job returned. Fails with what it said instead. */
export function resultOf({ outcome, exit, output }: Ran): unknown {
  if (outcome?.outcome.kind === 'success') return JSON.parse(outcome.outcome.resultJson) as unknown;
  throw new Error(`no success: ${JSON.stringify({ outcome, exit, output })}`);
}

/** Why a job failed, whether it said so itself or its runner ended. */
export function errorOf({ outcome, exit }: Ran): { code: string; message: string } {
  if (outcome?.outcome.kind === 'failure') return outcome.outcome.error;
  if (exit?.cause) return exit.cause;
  throw new Error(`no failure: ${JSON.stringify({ outcome, exit })}`);
}
