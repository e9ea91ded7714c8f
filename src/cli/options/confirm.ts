import { createInterface } from 'node:readline/promises';
import type { Cli } from '../cli.ts';
import { UsageError } from './usage-error.ts';

/** Asks for confirmation. Without a terminal `--yes` is required. */
export async function confirm(
  cli: Cli,
  question: string,
  refusal = 'this cannot be undone: add --yes to confirm',
): Promise<boolean> {
  if (!('isTTY' in cli.stdin && cli.stdin.isTTY === true)) {
    throw new UsageError(refusal);
  }
  const prompt = createInterface({ input: cli.stdin, output: cli.stderr });
  try {
    return /^y(es)?$/i.test((await prompt.question(`${question} [y/N] `)).trim());
  } finally {
    prompt.close();
  }
}
