import { BASELINE, SYSTEMS } from '../systems/catalogue.ts';
import { withBaseline, type Workload } from '../workloads/workload.ts';
import { systemsOfGoals } from './goals.ts';
import { GOALS, type Options, UsageError } from './options.ts';
import { table } from './report.ts';

export interface Step {
  workload: Workload;
  system: string;
  round: number;
}

/**
 * Every measurement of the run, in order. All workloads go through a round before the next begins,
 * and in each round another system goes first, so that neither a slow hour nor a place in the order
 * falls on one system alone.
 */
export function makePlan(workloads: readonly Workload[], options: Options): Step[] {
  refuseUnknown('--only', options.only, [...workloads, { name: GOALS }]);
  refuseUnknown('--systems', options.systems, SYSTEMS);
  const needed = options.only.includes(GOALS) ? systemsOfGoals() : new Map<string, Set<string>>();
  const chosen = workloads.filter(({ name }) => isChosen(options.only, name) || needed.has(name));
  const roundsOf = ({ rounds }: Workload) =>
    options.rounds ?? (options.quick ? rounds.quick : rounds.full);
  const steps: Step[] = [];
  for (let round = 0; round < Math.max(0, ...chosen.map(roundsOf)); round++) {
    for (const workload of chosen) {
      if (round >= roundsOf(workload)) continue;
      const all = options.baseline === undefined ? workload.systems : withBaseline(workload);
      // A workload that is also named by itself is measured with all systems.
      const only = options.only.includes(workload.name) ? undefined : needed.get(workload.name);
      const systems = all.filter(
        (name) =>
          name === BASELINE || (isWanted(options.systems, name) && (only?.has(name) ?? true)),
      );
      for (const system of rotate(systems, round)) steps.push({ workload, system, round });
    }
  }
  return steps;
}

/** What the plan measures, and about how long it takes. */
export function planText(steps: readonly Step[], quick: boolean): string {
  const names = [...new Set(steps.map(({ workload }) => workload.name))];
  const lines = names.map((name) => {
    const own = steps.filter(({ workload }) => workload.name === name);
    const systems = [...new Set(own.map(({ system }) => system))].toSorted();
    const rounds = Math.max(0, ...own.map(({ round }) => round + 1));
    return [name, systems.join(', '), `${rounds}`, minutesOf(own, quick)];
  });
  const total = ['all', `${steps.length} measurements`, '', minutesOf(steps, quick)];
  return table(['workload', 'systems', 'rounds', 'about min'], [...lines, total]);
}

function minutesOf(steps: readonly Step[], quick: boolean): string {
  return (steps.reduce((sum, step) => sum + secondsOf(step, quick), 0) / 60).toFixed(1);
}

/** A first guess. */
export function secondsOf({ workload: { seconds } }: Step, quick: boolean): number {
  return quick ? seconds.quick : seconds.full;
}

function isChosen(wanted: readonly string[], name: string): boolean {
  return wanted.length === 0 || wanted.includes(name);
}

/** A variant goes with its system, and what the machine itself can do is asked for us. */
function isWanted(wanted: readonly string[], name: string): boolean {
  const family = SYSTEMS.find((system) => system.name === name)?.family ?? 'longshore';
  return isChosen(wanted, name) || wanted.includes(family);
}

function rotate(systems: readonly string[], by: number): string[] {
  const first = systems.length === 0 ? 0 : by % systems.length;
  return [...systems.slice(first), ...systems.slice(0, first)];
}

function refuseUnknown(
  flag: string,
  given: readonly string[],
  all: readonly { name: string }[],
): void {
  const known = all.map(({ name }) => name);
  const unknown = given.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new UsageError(`${flag} ${unknown} is unknown; there are: ${known.join(', ')}`);
  }
}
