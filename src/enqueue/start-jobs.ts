import type { JobRequest } from '../core/job/new-job.ts';
import { ParamsInvalid } from '../params/params-invalid.ts';
import { Findings } from '../protocol/findings.ts';
import type { ProblemCode } from '../protocol/problem.ts';
import { Refusal } from '../protocol/refusal.ts';
import type { EnqueuedJob } from '../store/enqueue/enqueue-entry.ts';
import {
  IdempotencyConflict,
  type Enqueuer,
  type ParamsRequest,
  ParentUnknown,
} from './enqueuer.ts';
import { NotRegistered } from './not-registered.ts';
import { TimeRefused } from './time-refused.ts';

/** What a dialect calls the fields that a refusal can point to. */
interface FieldNames {
  paramsField?: string;
  keyField?: string;
}

/** Stores jobs. A refusal points to the field of the body that caused it. */
export async function start(
  enqueuer: Enqueuer,
  jobs: readonly JobRequest[],
  pointerOf: (index: number) => string,
  fields: FieldNames = {},
): Promise<EnqueuedJob[]> {
  return await refusing(async () => await enqueuer.start(jobs), pointerOf, fields);
}

/** Makes a refusal of what the enqueuer throws. */
export async function refusing<T>(
  work: () => Promise<T>,
  pointerOf: (index: number) => string,
  { paramsField = 'params', keyField = 'definitionKey' }: FieldNames = {},
): Promise<T> {
  try {
    const at = (index: number) => `${pointerOf(index)}/${paramsField}`;
    return await refusingMisfits(work, at);
  } catch (error) {
    if (error instanceof TimeRefused) {
      const pointer = `${pointerOf(error.index)}/${error.field}`;
      throw refusalAt('VALIDATION_FAILED', pointer, error.message);
    }
    if (error instanceof NotRegistered) {
      throw refusalAt('UNREGISTERED', `${pointerOf(error.index)}/${keyField}`, error.message);
    }
    if (error instanceof ParentUnknown) {
      const pointer = `${pointerOf(error.index)}/after/${error.position}`;
      throw refusalAt('VALIDATION_FAILED', pointer, error.message);
    }
    if (!(error instanceof IdempotencyConflict)) throw error;
    const pointer = `${pointerOf(error.index)}/idempotencyKey`;
    throw refusalAt('IDEMPOTENCY_CONFLICT', pointer, error.message);
  }
}

function refusalAt(code: ProblemCode, pointer: string, detail: string): Refusal {
  return new Refusal(code, `${pointer}: ${detail}`, { errors: [{ pointer, detail }] });
}

export async function startOne(
  enqueuer: Enqueuer,
  job: JobRequest,
  fields?: FieldNames,
): Promise<EnqueuedJob> {
  const [stored] = await start(enqueuer, [job], () => '', fields);
  if (!stored) throw new Error('the store answered fewer jobs than it was given');
  return stored;
}

/** Params that do not fit their definition, told with the place where they are in the body. */
async function refusingMisfits<T>(
  work: () => Promise<T>,
  at: (index: number) => string = () => '/params',
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ParamsInvalid)) throw error;
    const findings = new Findings();
    for (const { index, pointer, detail } of error.errors) {
      findings.add('PAYLOAD_INVALID', { pointer: at(index) + pointer, detail });
    }
    throw findings.refusal();
  }
}

/** Jobs would only fail with params that do not fit: better now than every night. */
export async function refuseMisfit(
  enqueuer: Enqueuer,
  tenant: string,
  of: Pick<ParamsRequest, 'definitionKey' | 'definitionVersion' | 'paramsJson' | 'paramsShape'>,
): Promise<void> {
  const { definitionKey, definitionVersion, paramsJson, paramsShape } = of;
  const asked = { definitionKey, definitionVersion, paramsJson, paramsShape };
  const request = { tenant, ...asked, skipValidation: false };
  await refusingMisfits(async () => await enqueuer.checkParams([request]));
}
