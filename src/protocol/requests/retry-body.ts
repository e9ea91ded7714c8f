import { z } from 'zod';
import { checkParams } from '../../core/job/params.ts';
import { RETRY_MODES, type RetryRequest } from '../../core/failure/retry.ts';
import { closed, instant, oneOf } from '../fields.ts';
import { Findings } from '../findings.ts';
import { violations } from '../violations.ts';

/** What every way to retry takes: one job, a group, or all that match. */
export const retryFields = {
  mode: oneOf('mode', RETRY_MODES)
    .default('now')
    .describe(
      'now and later go on where the job stopped, with one more attempt if none is left; reset ' +
        'starts over, without attempts, steps and checkpoint. Default now.',
    ),
  runAt: instant()
    .optional()
    .describe('With later: not before this time. Default: after its backoff.'),
  params: z.unknown().optional().describe('Other params than before. Default: the same.'),
};

/** What `POST /v1/jobs/{jobId}/retry` takes. */
export const RetryBody = closed(retryFields);

/** No body is a retry now. Throws a `Refusal`. */
export function parseRetry(body: unknown): RetryRequest {
  const findings = new Findings();
  const shape = RetryBody.safeParse(body ?? {});
  if (!shape.success) findings.add('VALIDATION_FAILED', ...violations(shape.error.issues, 'field'));
  const request = readRetryRequest(shape.data ?? { mode: 'now' }, findings);
  if (findings.any) throw findings.refusal();
  return request;
}

/** The rules that cross fields. */
export function readRetryRequest(
  {
    mode,
    runAt,
    params,
  }: { mode: RetryRequest['mode']; runAt?: Date | undefined; params?: unknown },
  findings: Findings,
): RetryRequest {
  if (runAt !== undefined && mode !== 'later') {
    const detail = `runAt goes with the mode later, not with ${mode}`;
    findings.add('VALIDATION_FAILED', { pointer: '/runAt', detail });
  }
  const request: RetryRequest = { mode, runAt: runAt ?? null, paramsJson: null };
  if (params === undefined) return request;
  const checked = checkParams(params);
  if (checked.ok) return { ...request, paramsJson: checked.json };
  const { code, pointer, detail } = checked;
  findings.add(code, { pointer: `/params${pointer}`, detail });
  return request;
}
