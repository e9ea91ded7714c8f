import { z } from 'zod';
import { checkParams } from '../../core/job/params.ts';
import { RETRY_MODES, RETRY_VERSIONS, type RetryRequest } from '../../core/failure/retry.ts';
import { closed, exampleBody, instant, oneOf } from '../fields.ts';
import { Findings } from '../findings.ts';
import { violations } from '../violations.ts';

/** Fields of all retry calls. */
export const retryFields = {
  mode: oneOf('mode', RETRY_MODES)
    .default('now')
    .describe(
      'now and later resume the job, with one more attempt if none is left; reset restarts it ' +
        'without attempts, steps and checkpoint. Default now.',
    ),
  runAt: instant()
    .optional()
    .describe('With later: earliest time to run. Default: after its backoff.'),
  params: z.unknown().optional().describe('New params. Default: unchanged.'),
  version: oneOf('version', RETRY_VERSIONS)
    .default('same')
    .describe(
      'Code of a deployed definition: same as the job was queued with, or current, as a new job ' +
        'gets it. Default same.',
    ),
};

/** Body of `POST /v1/jobs/{jobId}/retry`. */
export const RetryBody = closed(retryFields).meta(exampleBody({ mode: 'now' }));

/** Without a body: retry now. Throws a `Refusal`. */
export function parseRetry(body: unknown): RetryRequest {
  const findings = new Findings();
  const shape = RetryBody.safeParse(body ?? {});
  if (!shape.success) findings.add('VALIDATION_FAILED', ...violations(shape.error.issues, 'field'));
  const request = readRetryRequest(shape.data ?? { mode: 'now' }, findings);
  if (findings.any) throw findings.refusal();
  return request;
}

export function readRetryRequest(
  {
    mode,
    runAt,
    params,
    version = 'same',
  }: {
    mode: RetryRequest['mode'];
    runAt?: Date | undefined;
    params?: unknown;
    version?: RetryRequest['version'] | undefined;
  },
  findings: Findings,
): RetryRequest {
  if (runAt !== undefined && mode !== 'later') {
    const detail = `runAt requires the mode later, not ${mode}`;
    findings.add('VALIDATION_FAILED', { pointer: '/runAt', detail });
  }
  const request: RetryRequest = { mode, runAt: runAt ?? null, paramsJson: null, version };
  if (params === undefined) return request;
  const checked = checkParams(params);
  if (checked.ok) return { ...request, paramsJson: checked.json };
  const { code, pointer, detail } = checked;
  findings.add(code, { pointer: `/params${pointer}`, detail });
  return request;
}
