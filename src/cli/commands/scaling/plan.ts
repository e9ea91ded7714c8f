import { type Command, InvalidArgumentError } from 'commander';
import { planCapacity } from '../../../core/capacity/plan.ts';
import {
  NotAQuantity,
  parseCount,
  parseDays,
  parseSeconds,
  parseShare,
  parseSize,
} from '../../../core/capacity/quantities.ts';
import {
  DEFAULT_WORKLOAD,
  PLAN_ISOLATIONS,
  type PlanIsolation,
  type Workload,
} from '../../../core/capacity/workload.ts';
import { unknownName } from '../../../core/values/nearest.ts';
import type { Cli } from '../../cli.ts';
import { outputOf } from '../../session.ts';
import { planText } from './plan-text.ts';

interface PlanOptions {
  jobsPerDay: number;
  peak?: number;
  seconds?: number;
  cpuSeconds?: number;
  memory?: number;
  isolation?: PlanIsolation;
  concurrency?: number;
  batch?: number;
  params?: number;
  result?: number;
  retention?: number;
  logs?: number;
  failures?: number;
  webhooks?: number | true;
  idempotency?: number | true;
  unique?: number | true;
  concurrencyLimits?: number | true;
  delayed?: number | true;
  tags?: number | true;
  machineCores?: number;
  machineDisk?: number;
}

export function addPlan(program: Command, cli: Cli): void {
  program
    .command('plan')
    .summary('calculate cores, disk and workers for a number of jobs')
    .description(
      'Calculate what a number of jobs needs, from measured costs: worker slots, cores, memory, WAL, ' +
        'disk and connections. It needs no server. A share is 5%, 0.05, or nothing for all jobs.',
    )
    .requiredOption('--jobs-per-day <count>', 'such as 1000000, 1e9 or 10M', atLeast(parseCount, 1))
    .option('--seconds <n>', 'how long a job runs; default 1', quantity(parseSeconds))
    .option('--params <size>', 'such as 2kB; default 500 bytes', quantity(parseSize))
    .option('--result <size>', 'default 100 bytes', quantity(parseSize))
    .option(
      '--retention <duration>',
      'how long ended jobs are kept; default 7d',
      quantity(parseDays),
    )
    .option('--peak <factor>', 'busiest rate, as a multiple of the mean; default 2', factor)
    .option('--isolation <kind>', `${PLAN_ISOLATIONS.join(', ')}; default process`, isolation)
    .option('--concurrency <n>', 'slots of a worker process; default 100', atLeast(parseCount, 1))
    .option('--batch <n>', 'jobs per enqueueing call; default 1', atLeast(parseCount, 1))
    .option('--cpu-seconds <n>', 'CPU of your own code per job; default 0', quantity(parseSeconds))
    .option('--memory <size>', 'memory of your own code per slot; default 0', quantity(parseSize))
    .option('--logs <lines>', 'log lines of 100 bytes per job; default 0', quantity(parseCount))
    .option(
      '--failures <share>',
      'attempts that fail and are retried; default 1%',
      quantity(parseShare),
    )
    .option('--webhooks [share]', 'jobs with a webhook delivery; default 0', quantity(parseShare))
    .option(
      '--idempotency [share]',
      'jobs with an idempotency key; default 0',
      quantity(parseShare),
    )
    .option('--unique [share]', 'unique jobs; default 0', quantity(parseShare))
    .option(
      '--concurrency-limits [share]',
      'jobs under such a limit; default 0',
      quantity(parseShare),
    )
    .option(
      '--delayed [share]',
      'jobs that are enqueued for later; default 0',
      quantity(parseShare),
    )
    .option('--tags [share]', 'jobs with two tags; default 0', quantity(parseShare))
    .option('--machine-cores <n>', 'your largest PostgreSQL; default 64', atLeast(parseCount, 1))
    .option('--machine-disk <size>', 'its disk; default 16TB', atLeast(parseSize, 1))
    .allowExcessArguments(false)
    .action((options: PlanOptions, command: Command) => {
      const out = outputOf(cli, command);
      const plan = planCapacity(workloadOf(options));
      if (out.json) return out.document(plan);
      out.lines(planText(plan, out.width));
    });
}

function workloadOf({
  params,
  result,
  retention,
  logs,
  memory,
  ...options
}: PlanOptions): Workload {
  const named = {
    paramsBytes: params,
    resultBytes: result,
    retentionDays: retention,
    logLines: logs,
    memoryBytes: memory,
    machineDiskBytes: options.machineDisk,
  };
  const { machineDisk: _, ...same } = options;
  // An option without its value means all jobs.
  const given = Object.entries({ ...same, ...named }).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value === true ? 1 : value] as const],
  );
  return { ...DEFAULT_WORKLOAD, ...Object.fromEntries(given) } as Workload;
}

type Parse = (text: string) => number;

function quantity(parse: Parse): Parse {
  return (text) => {
    try {
      return parse(text);
    } catch (error) {
      if (!(error instanceof NotAQuantity)) throw error;
      throw new InvalidArgumentError(sentence(error.message));
    }
  };
}

function atLeast(parse: Parse, least: number): Parse {
  return (text) => {
    const value = quantity(parse)(text);
    if (value < least) throw new InvalidArgumentError(`Must be at least ${least}.`);
    return value;
  };
}

function factor(text: string): number {
  return atLeast(parseCount, 1)(text);
}

function isolation(text: string): PlanIsolation {
  const found = PLAN_ISOLATIONS.find((name) => name === text);
  if (!found) throw new InvalidArgumentError(unknownName('isolation', text, PLAN_ISOLATIONS));
  return found;
}

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
}
