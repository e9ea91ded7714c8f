import { readFile } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { InexactNumber, parseExactly } from '../../core/values/exact-json.ts';
import { UsageError } from './usage-error.ts';

const INLINE = 'the params are';

/** Params from the command line: JSON, `@file`, or `-` for stdin. Undefined if absent. */
export async function readParams(argument: string | undefined, stdin: Readable): Promise<unknown> {
  if (argument === undefined) return undefined;
  if (argument === '-') return parse(await text(stdin), 'stdin is');
  if (!argument.startsWith('@')) return parse(argument, INLINE);
  const path = argument.slice(1);
  let content: string;
  try {
    content = await readFile(path, 'utf8');
  } catch (error) {
    throw new UsageError(`cannot read the params: ${(error as Error).message}`, { cause: error });
  }
  return parse(content, `${path} is`);
}

/** What to type instead of `to=Ada count=2`; null if an argument is no such pair. */
export function jsonForPairs(typed: readonly string[]): string | null {
  const pairs = typed.map((one) => /^([\w.-]+)=(.*)$/s.exec(one));
  if (pairs.length === 0 || pairs.includes(null)) return null;
  const entries = pairs.map((pair): [string, unknown] => [
    pair?.[1] ?? '',
    valueOf(pair?.[2] ?? ''),
  ]);
  const json = JSON.stringify(Object.fromEntries(entries)).replaceAll("'", "'\\''");
  return `the params are one argument, as JSON: '${json}'`;
}

function valueOf(text: string): unknown {
  return /^(true|false|null|-?\d{1,15}(\.\d+)?)$/.test(text) ? JSON.parse(text) : text;
}

function parse(json: string, where: string): unknown {
  try {
    return parseExactly(json.replace(/^\uFEFF/, ''));
  } catch (error) {
    if (error instanceof InexactNumber) throw new UsageError(error.message);
    const asJson = where === INLINE ? jsonForPairs([json]) : null;
    if (asJson !== null) throw new UsageError(asJson, { cause: error });
    const why = `${where} not JSON: ${(error as Error).message}`;
    throw new UsageError(where === INLINE ? `${why}. Quote them: '{"a":1}'` : why, {
      cause: error,
    });
  }
}
