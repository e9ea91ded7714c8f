import type { Log } from '../../runtime/log.ts';
import { sleep } from '../../runtime/deadline.ts';
import { DatabaseUnavailable } from '../../store/connection/db.ts';
import { lineFields } from './attempt-signals.ts';
import { hookOwner } from '../../core/definition/hooks.ts';
import { isLargeText, mayHoldLarge } from '../../core/large/large-value.ts';
import { PARENTS_STEP } from '../../core/dependency/dependency.ts';
import { CHILDREN_STEP } from '../../core/dependency/children.ts';
import { isTimedStep } from '../../core/job/signal.ts';
import { childrenJson, parentsJson } from './parents.ts';
import type { AttemptInput, Execution, SaveStep } from './execution.ts';
import type { Saved } from '../ipc.ts';
import type { WorkQueue } from '../claim/work-queue.ts';

const PAUSE_MS = 500;

/**
 * The input of an attempt: its params, its secrets, and what earlier attempts stored. Throws
 * `CannotOpen`.
 */
export function attemptInput(
  queue: WorkQueue,
  execution: Execution,
): AttemptInput | Promise<AttemptInput> {
  const { job } = execution;
  const params = openParams(queue, execution);
  const secrets = queue.secretsOf(execution);
  // A first claim has no earlier attempts, so most jobs need no query.
  const isFirst = job.claim === 1 && !job.policy?.hasParents;
  const saved = isFirst ? undefined : savedSteps(queue, execution);
  if (saved === undefined && typeof params === 'string' && !(secrets instanceof Promise)) {
    return { paramsJson: params, saved, secrets };
  }
  return Promise.all([params, saved, secrets]).then(([paramsJson, steps, given]) => {
    return { paramsJson, saved: steps, secrets: given };
  });
}

/** Only params that are large themselves, or a hook's copy of such, are in the storage. */
function openParams(
  { vault, large }: WorkQueue,
  { job, tenant, definition }: Execution,
): string | Promise<string> {
  const { paramsJson } = job;
  const isLarge =
    hookOwner(definition.key) !== null ? mayHoldLarge(paramsJson) : isLargeText(paramsJson);
  return large && isLarge ? large.open(tenant, paramsJson) : vault.open(tenant, paramsJson);
}

async function savedSteps(
  queue: WorkQueue,
  { shard, job, tenant }: Execution,
): Promise<Saved | undefined> {
  const { checkpointJson, steps } = await queue.loadSteps(shard, job.id);
  const parents = job.policy?.hasParents ? await queue.loadParents(shard, job.id) : [];
  const hasChildren = steps.some(({ name }) => name === CHILDREN_STEP);
  const children = hasChildren ? await queue.loadChildren(shard, job.id) : null;
  if (checkpointJson === null && steps.length === 0 && parents.length === 0) return undefined;
  const read = (json: string) => JSON.parse(queue.vault.open(tenant, json)) as unknown;
  const timed = steps.filter(({ name }) => isTimedStep(name));
  const agesMs = Object.fromEntries(timed.map(({ name, ageMs }) => [name, ageMs]));
  return {
    ...(timed.length > 0 && { agesMs }),
    ...(checkpointJson !== null && { checkpoint: read(checkpointJson) }),
    steps: {
      ...Object.fromEntries(steps.map(({ name, valueJson }) => [name, read(valueJson)])),
      ...(parents.length > 0 && {
        [PARENTS_STEP]: JSON.parse(await parentsJson(queue, tenant, parents)) as unknown,
      }),
      ...(children && {
        [CHILDREN_STEP]: JSON.parse(await childrenJson(queue, tenant, children)) as unknown,
      }),
    },
  };
}

/** Retries as long as the claim holds. */
export function stepSaver(queue: WorkQueue, log: Log): SaveStep {
  return async (execution, { step: name, valueJson: plainJson, durationMs }) => {
    const { shard, job, tenant } = execution;
    const valueJson = queue.vault.seal(tenant, plainJson);
    while (!execution.lost) {
      try {
        const { id, claim } = job;
        const mine = await queue.saveStep(shard, { id, claim, name, valueJson, durationMs });
        return mine ? null : 'this attempt no longer owns the job';
      } catch (error) {
        if (!(error instanceof DatabaseUnavailable)) {
          log.warn({ ...lineFields(execution), step: name, err: error }, 'cannot store a step');
          return `it could not be stored: ${error instanceof Error ? error.message : String(error)}`;
        }
        await sleep(PAUSE_MS);
      }
    }
    return 'this attempt no longer owns the job';
  };
}
