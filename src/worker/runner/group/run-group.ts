import {
  type BatchContext,
  type BatchItem,
  isItemFailure,
  ItemFailure,
} from '../../../core/definition/define-batch.ts';
import type { JobDefinition } from '../../../core/definition/define.ts';
import type { Outcome } from '../../../core/job/lifecycle.ts';
import type { RunCommand } from '../../ipc.ts';
import type { JobRun } from '../job-run.ts';
import {
  checkedParams,
  currentParams,
  type Definitions,
  failure,
  success,
  thrown,
} from '../run.ts';

type GroupFunction = (items: readonly BatchItem[], ctx: BatchContext) => unknown;

/**
 * Runs the jobs of a group in one call of their code. Each of them gets an outcome of its own. Never
 * throws, whatever the code does.
 */
export async function runGroup(
  definitions: Definitions,
  runs: readonly JobRun[],
  nowMs: () => number,
): Promise<void> {
  const [first] = runs;
  if (!first) return;
  const { key, version } = first.job;
  const definition = definitions.get(key)?.find((one) => one.version === version);
  if (!definition) {
    const missing = failure('NO_HANDLER', `this worker has no definition ${key}@${version}`);
    for (const run of runs) run.end(missing);
    return;
  }
  const items: BatchItem[] = [];
  const open: JobRun[] = [];
  for (const run of runs) {
    const item = await itemOf(definition, run, nowMs);
    if (!item) continue;
    items.push(item);
    open.push(run);
  }
  if (items.length === 0) return;
  const outcomes = await outcomesOf(definition, items, open, nowMs);
  for (const [index, run] of open.entries()) run.end(outcomes(index, run.job));
}

async function outcomesOf(
  definition: JobDefinition,
  items: readonly BatchItem[],
  runs: readonly JobRun[],
  nowMs: () => number,
): Promise<(index: number, job: RunCommand) => Outcome> {
  try {
    const run = definition.run as unknown as GroupFunction;
    const results: unknown = await run(items, contextOf(runs));
    if (!Array.isArray(results) || results.length !== items.length) {
      const given = Array.isArray(results) ? `${results.length} results` : 'no list';
      const message = `run returned ${given} for ${items.length} items: it must return a list with one result for each item, in their order`;
      return () => failure('RESULT_INVALID', message);
    }
    return (index, job) => {
      const result: unknown = results[index];
      if (isItemFailure(result)) return thrown(job, result.error, nowMs);
      return success(result, job.resultMaxBytes);
    };
  } catch (error) {
    return (_, job) => thrown(job, error, nowMs);
  }
}

/** Null when its params do not fit; then it has its outcome. */
async function itemOf(
  definition: JobDefinition,
  run: JobRun,
  nowMs: () => number,
): Promise<BatchItem | null> {
  try {
    const params = await currentParams(definition, run.job, run.job.params);
    const checked = await checkedParams(definition, params);
    if (checked.ok) return withParams(run, checked.params);
    run.end(failure('PAYLOAD_INVALID', checked.message));
  } catch (error) {
    run.end(thrown(run.job, error, nowMs));
  }
  return null;
}

function withParams(run: JobRun, params: unknown): BatchItem {
  const { jobId, tenant, attempt, maxAttempts, logger, parents, progress, emitEvent, step } =
    run.ctx;
  return {
    jobId,
    tenant,
    attempt,
    maxAttempts,
    params,
    logger,
    parents,
    progress,
    emitEvent,
    step,
    get abortSignal() {
      return run.signal;
    },
    fail: (error) => new ItemFailure(error),
  };
}

function contextOf(runs: readonly JobRun[]): BatchContext {
  const [first] = runs;
  if (!first) throw new Error('a group has at least one item');
  let all: AbortController | undefined;
  return {
    logger: first.ctx.logger,
    secrets: first.ctx.secrets,
    heartbeat: () => {
      for (const { ctx } of runs) ctx.heartbeat();
    },
    get abortSignal() {
      all ??= abortedByAll(runs.map(({ signal }) => signal));
      return all.signal;
    },
  };
}

function abortedByAll(signals: readonly AbortSignal[]): AbortController {
  const all = new AbortController();
  const check = () => {
    const last = signals.find(({ aborted }) => aborted);
    if (last && signals.every(({ aborted }) => aborted)) all.abort(last.reason);
  };
  for (const signal of signals) signal.addEventListener('abort', check);
  check();
  return all;
}
