import { readFile } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { InvalidRequest } from '../../../client/index.ts';
import { InexactNumber, parseExactly } from '../../../core/values/exact-json.ts';
import { isRecord } from '../../../core/values/record.ts';
import { UsageError } from '../../options/usage-error.ts';

/** A job of a line, as `client.batch` takes it. */
export interface LineJob {
  definition: string;
  params: unknown;
  options: Record<string, unknown>;
}

/** Jobs of a file, one per line. Empty lines are skipped. */
export class JobLines {
  readonly jobs: LineJob[] = [];
  readonly #name: string;
  /** The line of each job, from 1. */
  readonly #lines: number[] = [];

  constructor(content: string, name: string) {
    this.#name = name;
    const lines = content.replace(/^\uFEFF/, '').split('\n');
    for (const [index, line] of lines.entries()) {
      if (line.trim() === '') continue;
      this.#lines.push(index + 1);
      this.jobs.push(this.#jobOf(line, index + 1));
    }
  }

  #jobOf(line: string, number: number): LineJob {
    const job = this.#parsed(line, number);
    if (!isRecord(job) || typeof job['definitionKey'] !== 'string') {
      throw new UsageError(
        `${this.#at(number)} must be like {"definitionKey":"hello","params":{}}`,
      );
    }
    const { definitionKey: definition, params, ...options } = job;
    return { definition, params, options };
  }

  #parsed(line: string, number: number): unknown {
    try {
      return parseExactly(line);
    } catch (error) {
      const why = error instanceof InexactNumber ? '' : 'is not JSON: ';
      throw new UsageError(`${this.#at(number)} ${why}${withoutLine((error as Error).message)}`);
    }
  }

  #at(line: number): string {
    return `line ${line} of ${this.#name}`;
  }

  /** Names the line of the entry that the server refused, or rethrows. */
  refused(error: unknown): never {
    const [first] = error instanceof InvalidRequest ? error.errors : [];
    const [, place, field] = /^\/jobs\/(\d+)\/?(.*)$/.exec(first?.pointer ?? '') ?? [];
    const line = this.#lines[Number(place)];
    if (!first || line === undefined) throw error;
    const of = field ? ` ${field}:` : '';
    throw new UsageError(`${this.#at(line)}:${of} ${first.detail}`, { cause: error });
  }
}

/** Reads a file, or stdin if it is `-`. */
export async function readJobLines(file: string, stdin: Readable): Promise<JobLines> {
  const name = file === '-' ? 'stdin' : file;
  return new JobLines(await contentOf(file, stdin), name);
}

/** The same; a file without jobs is refused. */
export async function readSomeJobLines(file: string, stdin: Readable): Promise<JobLines> {
  const lines = await readJobLines(file, stdin);
  if (lines.jobs.length > 0) return lines;
  throw new UsageError(`${file === '-' ? 'stdin' : file} has no jobs: write one per line`);
}

async function contentOf(file: string, stdin: Readable): Promise<string> {
  if (file === '-') return await text(stdin);
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'there is no such file' : message;
    throw new UsageError(`cannot read ${file}: ${why}`, { cause: error });
  }
}

/** The parser saw only one line: its number would contradict that of the file. */
function withoutLine(message: string): string {
  return message.replace(/ \(line 1 column \d+\)$/, '');
}
