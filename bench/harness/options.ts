import { parseArgs } from 'node:util';

export interface Options {
  quick: boolean;
  /** Names of workloads and of systems; empty means all. */
  only: string[];
  systems: string[];
  rounds: number | undefined;
  /** Replaces the number of jobs of every drain. */
  jobs: number | undefined;
  /** Another checkout of Longshore, which is measured as a system of its own. */
  baseline: string | undefined;
  json: string | undefined;
  /** Print the plan and measure nothing. */
  plan: boolean;
  /** A folder for CPU profiles of the measured processes. */
  profile: string | undefined;
}

/** In `--only`: what the goals of issue 17 need. */
export const GOALS = 'goals';

export const USAGE = `npm run bench -- [--quick] [--only a,b] [--systems x,y] [options]

  --quick        a few minutes instead of hours: fewer rounds, smaller counts
  --only         only these workloads, separated by commas; goals: what the goals of issue 17 need,
                 which also writes bench/results/goals.json unless counts or systems are changed
  --systems      only these systems, separated by commas
  --rounds       so many rounds of every workload, instead of its own number
  --jobs         so many jobs in every drain, instead of its own number
  --baseline     also measure the checkout of Longshore in this directory, as a row of its own
  --json         write the results to this file, for npm run bench:charts
  --plan         print what would be measured and about how long it takes, and end
  --profile      write CPU profiles of the measured processes to this folder, print the hot functions
  --list         print the names of workloads and systems`;

/** A mistake in the command line. */
export class UsageError extends Error {}

export function parseOptions(argv: readonly string[]): Options & { help: boolean; list: boolean } {
  const { values } = parse(argv);
  return {
    quick: values.quick,
    only: names(values.only),
    systems: names(values.systems),
    rounds: count('--rounds', values.rounds),
    jobs: count('--jobs', values.jobs),
    baseline: values.baseline,
    json: values.json,
    plan: values.plan,
    profile: values.profile,
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
        jobs: { type: 'string' },
        baseline: { type: 'string' },
        json: { type: 'string' },
        plan: { type: 'boolean', default: false },
        profile: { type: 'string' },
        list: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function count(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!(Number.isInteger(value) && value > 0)) {
    throw new UsageError(`${flag} takes a whole number from 1`);
  }
  return value;
}

function names(lists: readonly string[]): string[] {
  return lists.flatMap((list) => list.split(',')).filter((name) => name !== '');
}
