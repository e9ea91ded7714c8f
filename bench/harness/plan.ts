import { BASELINE, SYSTEMS } from '../systems/catalogue.ts';
import { withBaseline, type Workload } from '../workloads/workload.ts';
import { type Options, UsageError } from './options.ts';

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
  refuseUnknown('--only', options.only, workloads);
  refuseUnknown('--systems', options.systems, SYSTEMS);
  const chosen = workloads.filter(({ name }) => isChosen(options.only, name));
  const roundsOf = ({ rounds }: Workload) =>
    options.rounds ?? (options.quick ? rounds.quick : rounds.full);
  const steps: Step[] = [];
  for (let round = 0; round < Math.max(0, ...chosen.map(roundsOf)); round++) {
    for (const workload of chosen) {
      if (round >= roundsOf(workload)) continue;
      const all = options.baseline === undefined ? workload.systems : withBaseline(workload);
      const systems = all.filter((name) => name === BASELINE || isWanted(options.systems, name));
      for (const system of rotate(systems, round)) steps.push({ workload, system, round });
    }
  }
  return steps;
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
