import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Postgres } from '../servers/postgres.ts';
import { SYSTEMS } from '../systems/catalogue.ts';
import { WORKLOADS } from '../workloads/index.ts';
import { Bench } from './bench.ts';
import { children } from './children.ts';
import { Disturbance } from './disturbance.ts';
import { goalsTable } from './goals.ts';
import { commitOf, machineLines } from './machine.ts';
import { GOALS, type Options, USAGE } from './options.ts';
import { makePlan, planText, type Step } from './plan.ts';
import { hotFunctions } from './profile.ts';
import { Progress } from './progress.ts';
import { reportOf, systemsTable } from './report.ts';
import { Results, type ResultsFile } from './results.ts';

export function listing(): string {
  const workloads = WORKLOADS.map(({ name, what }) => `  ${name.padEnd(16)}${what}`);
  const systems = SYSTEMS.map(({ name, settings }) => `  ${name.padEnd(20)}${settings}`);
  return `${USAGE}\n\nworkloads\n${workloads.join('\n')}\n\nsystems\n${systems.join('\n')}\n`;
}

/** Goes through the plan and prints what came out. Answers whether all of it could be measured. */
export async function runBench(options: Options, stop: AbortSignal): Promise<boolean> {
  const steps = makePlan(WORKLOADS, options);
  const json = options.json ?? resultsOfGoals(options);
  process.stderr.write(`${planText(steps, options.quick)}\n`);
  if (options.plan) return true;
  const origin = {
    at: new Date().toISOString(),
    commit: commitOf(),
    command: ['npm run bench --', ...process.argv.slice(2)].join(' '),
  };
  const progress = new Progress(steps, options.quick);
  const results = new Results();
  const failures: string[] = [];
  const disturbance = new Disturbance();
  progress.say('starting PostgreSQL');
  if (options.profile !== undefined) await mkdir(options.profile, { recursive: true });
  const folder = await mkdtemp(join(tmpdir(), 'longshore-bench-'));
  const postgres = new Postgres(folder);
  // Ctrl-C ends the processes, which fails the step under way; the rest is tidied up below.
  stop.addEventListener('abort', () => void children.endAll());
  const atOnce = (): void => {
    children.killAll();
    postgres.kill();
    rmSync(folder, { recursive: true, force: true });
  };
  process.on('exit', atOnce);
  try {
    await postgres.start();
    const machine = machineLines(folder, await postgres.version());
    const bench = new Bench(options, folder, postgres);
    for (const step of steps) {
      if (stop.aborted) break;
      progress.begin(step);
      await disturbance.look();
      const failure = await measure(bench, step, results);
      progress.end(step);
      if (failure !== undefined && !stop.aborted) {
        failures.push(failure);
        progress.say(`failed: ${failure}\n`);
      }
    }
    progress.clear();
    const rows = results.rows();
    const circumstances = [...machine, disturbance.line()];
    process.stdout.write(
      [
        reportOf(WORKLOADS, rows),
        goalsTable(rows, { all: options.only.includes(GOALS) }),
        ...hotOf(options.profile),
        systemsTable([...new Set(steps.map(({ system }) => system))]),
        bullets([
          ...circumstances,
          ...(options.quick ? ['quick run: small counts, one round; good for a glance only'] : []),
          ...failures.map((failure) => `failed: ${failure.split('\n')[0]}`),
        ]),
      ].join('\n'),
    );
    // What Ctrl-C ended is no result to keep, unless a file was named for it.
    if (json !== undefined && (options.json !== undefined || !stop.aborted)) {
      const file: ResultsFile = { ...origin, machine: circumstances, rows };
      await mkdir(dirname(json), { recursive: true });
      await writeFile(json, `${JSON.stringify(file, null, 2)}\n`);
      process.stdout.write(`\nThe results are in ${json}.\n`);
    }
  } finally {
    await children.endAll();
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
    process.off('exit', atOnce);
  }
  return failures.length === 0 && !stop.aborted;
}

/** Where a run for the goals writes to, if it measures what they say. */
function resultsOfGoals({ only, systems, jobs, quick, profile }: Options): string | undefined {
  const isComplete = systems.length === 0 && jobs === undefined && !quick && profile === undefined;
  if (!only.includes(GOALS) || !isComplete) return undefined;
  return relative('', fileURLToPath(new URL('../results/goals.json', import.meta.url)));
}

/** One that cannot be measured is reported and does not end the run. */
async function measure(bench: Bench, step: Step, results: Results): Promise<string | undefined> {
  const { workload, system, round } = step;
  try {
    results.add(workload, system, await workload.measure(bench, system, round));
    return undefined;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return `${workload.name} ${system} (round ${round + 1}): ${reason.trim()}`;
  }
}

function hotOf(profile: string | undefined): string[] {
  if (profile === undefined) return [];
  return ['producer', 'worker', 'both'].map((role) => hotFunctions(profile, role));
}

function bullets(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}\n`).join('');
}
