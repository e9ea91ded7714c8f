import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Cli } from '../cli.ts';
import { UsageError } from './usage-error.ts';

/**
 * The value of a secret: from a file, from stdin, or typed without echo. Never from an argument,
 * which other users and the history of the shell would show. One line break at the end is dropped.
 */
export async function readSecretValue(cli: Cli, file: string | undefined): Promise<string> {
  const given = file === undefined ? await fromStdin(cli) : await fromFile(file);
  const value = given.replace(/\r?\n$/, '');
  if (value === '') throw new UsageError('the value is empty');
  return value;
}

async function fromFile(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new UsageError(`cannot read the value: ${(error as Error).message}`, { cause: error });
  }
}

async function fromStdin(cli: Cli): Promise<string> {
  if (!('isTTY' in cli.stdin && cli.stdin.isTTY === true)) return await text(cli.stdin);
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const prompt = createInterface({ input: cli.stdin, output: nowhere, terminal: true });
  cli.stderr.write('Value (not shown): ');
  try {
    return await prompt.question('');
  } finally {
    prompt.close();
    cli.stderr.write('\n');
  }
}
