import { z } from 'zod';
import { checkParams } from '../core/job/params.ts';
import { isSignalName, SIGNAL_NAME_RULE } from '../core/job/signal.ts';
import { JobIdParams } from './answers/job-answer.ts';
import { closed } from './fields.ts';
import { Findings } from './findings.ts';
import { violations } from './violations.ts';

export const SignalParams = JobIdParams.extend({
  name: z.string().describe(`Name of the signal: ${SIGNAL_NAME_RULE}.`),
});

/** Body of `POST /v1/jobs/{jobId}/signals/{name}`. */
export const SignalBody = closed({
  payload: z.unknown().optional().describe('Any JSON; what ctx.waitFor returns. Default null.'),
});

export interface SignalRequest {
  name: string;
  payloadJson: string;
}

/** Without a body the payload is null. Throws a `Refusal`. */
export function parseSignal(name: string, body: unknown): SignalRequest {
  const findings = new Findings();
  if (!isSignalName(name)) {
    findings.add('VALIDATION_FAILED', { pointer: '/name', detail: `must be ${SIGNAL_NAME_RULE}` });
  }
  const shape = SignalBody.safeParse(body ?? {});
  if (!shape.success) findings.add('VALIDATION_FAILED', ...violations(shape.error.issues, 'field'));
  const checked = checkParams(shape.data?.payload ?? null);
  if (!checked.ok) {
    const { code, pointer, detail } = checked;
    findings.add(code, { pointer: `/payload${pointer}`, detail });
  }
  if (findings.any || !checked.ok) throw findings.refusal();
  return { name, payloadJson: checked.json };
}
