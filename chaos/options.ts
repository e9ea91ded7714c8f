import { parseArgs } from 'node:util';

export interface Options {
  seed: number;
  minutes: number | undefined;
  profile: string;
  folder: string | undefined;
  /** Judge the files of an earlier run instead of making a new one. */
  check: string | undefined;
  mutant: string | undefined;
  help: boolean;
}

export const USAGE = `npm run chaos -- [--seed N] [--minutes M] [--profile smoke|standard|remote|redis|torture]

  --seed         decides everything that is left to chance (default: the time)
  --profile      smoke (about 90 s), standard (before a release), remote (two of three workers work
                 over HTTP), redis (with a Redis that fails as well), torture (all are killed, all
                 the time)
  --minutes      how long the faults go on, instead of what the profile says
  --folder       keep the files of the run here (default: a new folder below the system's temporary one)
  --check        judge the files of an earlier run again, and do nothing else
  --mutant       break the product on purpose; npm run chaos:mutants does it for all of them`;

/** What is wrong with the command line; the message is for the person who wrote it. */
export class UsageError extends Error {}

export function parseOptions(argv: readonly string[], defaultSeed: number): Options {
  const { values } = parse(argv);
  return {
    seed: number('--seed', values.seed, true) ?? defaultSeed,
    minutes: number('--minutes', values.minutes, false),
    profile: values.profile,
    folder: values.folder,
    check: values.check,
    mutant: values.mutant,
    help: values.help,
  };
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      options: {
        seed: { type: 'string' },
        minutes: { type: 'string' },
        profile: { type: 'string', default: 'smoke' },
        folder: { type: 'string' },
        check: { type: 'string' },
        mutant: { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function number(name: string, text: string | undefined, whole: boolean): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (text.trim() === '' || !(value > 0) || (whole && !Number.isSafeInteger(value))) {
    throw new UsageError(`${name} takes a ${whole ? 'whole number from 1' : 'number above 0'}`);
  }
  return value;
}
