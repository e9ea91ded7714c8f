import { parseArgs } from 'node:util';

export interface Options {
  quick: boolean;
  /** Names of workloads and of systems; empty means all. */
  only: string[];
  systems: string[];
  rounds: number | undefined;
  json: string | undefined;
}

export const USAGE = `npm run bench -- [--quick] [--only a,b] [--systems x,y] [options]

  --quick        a few minutes instead of hours: fewer rounds, smaller counts
  --only         only these workloads, separated by commas
  --systems      only these systems, separated by commas
  --rounds       so many rounds of everything, instead of what each workload asks for
  --json         write the rows { system, workload, unit, median, min, max } to this file
  --list         print the names of workloads and systems`;

/** What is wrong with the command line; the message is for the person who wrote it. */
export class UsageError extends Error {}

export function parseOptions(argv: readonly string[]): Options & { help: boolean; list: boolean } {
  const { values } = parse(argv);
  const rounds = values.rounds === undefined ? undefined : Number(values.rounds);
  if (rounds !== undefined && !(Number.isInteger(rounds) && rounds > 0)) {
    throw new UsageError('--rounds takes a whole number from 1');
  }
  return {
    quick: values.quick,
    only: names(values.only),
    systems: names(values.systems),
    rounds,
    json: values.json,
    help: values.help,
    list: values.list,
  };
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      options: {
        quick: { type: 'boolean', default: false },
        only: { type: 'string', multiple: true, default: [] },
        systems: { type: 'string', multiple: true, default: [] },
        rounds: { type: 'string' },
        json: { type: 'string' },
        list: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function names(lists: readonly string[]): string[] {
  return lists.flatMap((list) => list.split(',')).filter((name) => name !== '');
}
