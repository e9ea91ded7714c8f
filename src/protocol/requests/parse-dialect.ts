import type { z } from 'zod';
import {
  type PriorityWord,
  PRIORITY_WORDS,
  RETRY_ON_WITHOUT_THROWS,
} from '../../core/views/dialect.ts';
import { type JobRequest, plainRequest } from '../../core/job/new-job.ts';
import { checkParams } from '../../core/job/params.ts';
import { IntentBody, EnqueueBody, QueueBody } from './dialect-body.ts';
import { Findings } from '../findings.ts';
import { violations } from '../violations.ts';

/** The body of `POST /jobs` (seed 001). Throws a `Refusal`. */
export function parseIntent(body: unknown, tenant: string): JobRequest {
  const { jobType, idempotencyKey = null, paramsJson } = read(IntentBody, body);
  const plain = plainRequest(tenant, jobType, paramsJson);
  return { ...plain, idempotencyKey, idempotencyScope: 'tenant' };
}

/** The body of `POST /jobber/queue` (seed 003). Throws a `Refusal`. */
export function parseQueue(body: unknown, tenant: string): JobRequest {
  const { type, paramsJson } = read(QueueBody, body);
  return plainRequest(tenant, type, paramsJson);
}

/** The body of `POST /api/jobs/enqueue` (seed 004). Throws a `Refusal`. */
export function parseEnqueue(body: unknown, tenant: string): JobRequest {
  const { type, paramsJson, ...given } = read(EnqueueBody, body);
  const { idempotencyKey = null, runAt = null, priority = 'normal' } = given;
  const { skipValidation = false } = given;
  return {
    ...plainRequest(tenant, type, paramsJson),
    idempotencyKey,
    idempotencyScope: 'tenant',
    runAt,
    priority: PRIORITY_WORDS[priority satisfies PriorityWord],
    policy: { defaultRetryOn: RETRY_ON_WITHOUT_THROWS, failsUnserved: true },
    skipValidation,
  };
}

/** Reports violations of fields and payload together. */
function read<Body extends { payload?: unknown }>(
  shape: z.ZodType<Body>,
  body: unknown,
): Body & { paramsJson: string } {
  const findings = new Findings();
  const fields = shape.safeParse(body);
  if (!fields.success)
    findings.add('VALIDATION_FAILED', ...violations(fields.error.issues, 'field'));
  const params = checkParams(payloadOf(body));
  if (!params.ok) {
    const { code, pointer, detail } = params;
    findings.add(code, { pointer: `/payload${pointer}`, detail });
  }
  if (!fields.success || !params.ok) throw findings.refusal();
  return { ...fields.data, paramsJson: params.json };
}

function payloadOf(body: unknown): unknown {
  const { payload } = (body ?? {}) as { payload?: unknown };
  return payload === undefined ? {} : payload;
}
