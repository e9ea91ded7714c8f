import { createHash, randomUUID } from 'node:crypto';
import { openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { JobContext } from '../../src/core/definition/define.ts';
import type { Effect } from './history.ts';
import { nowMicros } from './now.ts';

/**
 * The account that a job gives of itself: one line per effect, written by one append, so that lines
 * of many processes never mix and whatever was written survives the end of its writer. A runner gets
 * hardly any environment; the run has the servers hand this one variable on.
 */

export const FOLDER_VARIABLE = 'CHAOS_FOLDER';

let file: number | undefined;

/** The folder of the run, in the process of a job. */
export function runFolder(): string {
  const folder = process.env[FOLDER_VARIABLE];
  if (folder === undefined) throw new Error(`${FOLDER_VARIABLE} is not set: this job is for chaos`);
  return folder;
}

export function sha(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Records one run of a handler: its start and each effect. */
export class EffectLog {
  readonly execution = randomUUID();
  readonly #ctx: Pick<JobContext, 'jobId' | 'attempt'>;
  readonly #isolation: string;

  constructor(
    ctx: Pick<JobContext, 'jobId' | 'attempt'>,
    params: unknown,
    isolation: string,
    more: Pick<Effect, 'build' | 'group'> = {},
  ) {
    this.#ctx = ctx;
    this.#isolation = isolation;
    this.note('start', { paramsSha: sha(JSON.stringify(params)), ...more });
  }

  note(what: Effect['what'], more: Partial<Effect> = {}): void {
    const { jobId: job, attempt } = this.#ctx;
    const { pid, ppid } = process;
    const parent = this.#isolation === 'inline' ? pid : ppid;
    const effect: Effect = {
      at: nowMicros(),
      what,
      job,
      attempt,
      execution: this.execution,
      pid,
      parent,
      isolation: this.#isolation,
      ...more,
    };
    file ??= openSync(join(runFolder(), 'effects.jsonl'), 'a');
    writeSync(file, `${JSON.stringify(effect)}\n`);
  }

  /** Ends well: what is stored can be traced back to this very execution. */
  end(): { execution: string; attempt: number } {
    const result = { execution: this.execution, attempt: this.#ctx.attempt };
    this.note('end', { resultSha: sha(JSON.stringify(result)) });
    return result;
  }

  /** The error names its execution too. */
  error(): Error {
    this.note('throw');
    return new Error(`thrown on purpose, execution=${this.execution}`);
  }
}
