import type { JobRequest } from '../core/job/new-job.ts';
import { ParamsInvalid } from '../params/params-invalid.ts';
import { Findings } from '../protocol/findings.ts';
import type { ProblemCode } from '../protocol/problem.ts';
import { Refusal } from '../protocol/refusal.ts';
import type { EnqueuedJob } from '../store/enqueue/enqueue-entry.ts';
import { AlreadyExpired, IdempotencyConflict, type Enqueuer } from './enqueuer.ts';

/** The store tells which request is wrong; the caller wants to know where that is in the body. */
export async function start(
  enqueuer: Enqueuer,
  jobs: readonly JobRequest[],
  pointerOf: (index: number) => string,
  paramsField = 'params',
): Promise<EnqueuedJob[]> {
  try {
    const at = (index: number) => `${pointerOf(index)}/${paramsField}`;
    return await refusingMisfits(async () => await enqueuer.start(jobs), at);
  } catch (error) {
    if (error instanceof AlreadyExpired) {
      const pointer = `${pointerOf(error.index)}/expiresAt`;
      throw refusalAt('VALIDATION_FAILED', pointer, 'must be a time to come');
    }
    if (!(error instanceof IdempotencyConflict)) throw error;
    const pointer = `${pointerOf(error.index)}/idempotencyKey`;
    const detail = 'this key was used for a job with other params';
    throw refusalAt('IDEMPOTENCY_CONFLICT', pointer, detail);
  }
}

function refusalAt(code: ProblemCode, pointer: string, detail: string): Refusal {
  return new Refusal(code, `${pointer}: ${detail}`, { errors: [{ pointer, detail }] });
}

export async function startOne(
  enqueuer: Enqueuer,
  job: JobRequest,
  paramsField?: string,
): Promise<EnqueuedJob> {
  const [stored] = await start(enqueuer, [job], () => '', paramsField);
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
  of: { definitionKey: string; definitionVersion: number | null; paramsJson: string },
): Promise<void> {
  const { definitionKey, definitionVersion, paramsJson } = of;
  const request = { definitionKey, definitionVersion, paramsJson, skipValidation: false };
  await refusingMisfits(async () => await enqueuer.checkParams([request]));
}
