import { expect, test } from 'vitest';
import { ProblemError, ServerUnreachable } from '../client/index.ts';
import { parseBody } from '../protocol/requests/parse-body.ts';
import { failedCall } from './failed-call.ts';
import { ToolError } from './tool.ts';
import { jobLog } from './tools/job-log.ts';

const problem = (status: number, code: string, retryAfterMs: number | null = null) =>
  new ProblemError(status, code, 'refused', [], retryAfterMs);

test.each([
  [problem(401, 'UNAUTHORIZED'), /ask the operator/],
  [problem(403, 'FORBIDDEN'), /key with the scope/],
  [problem(404, 'NOT_FOUND'), /Check the id/],
  [problem(409, 'CONFLICT'), /explain_job/],
  [problem(400, 'PAYLOAD_INVALID'), /list_definitions/],
  [problem(422, 'UNREGISTERED'), /list_definitions/],
  [problem(429, 'RATE_LIMITED', 1_500), /Wait 2 s/],
  [problem(503, 'UNAVAILABLE'), /try again/],
  [new ServerUnreachable('http://x', 'refused', null), /Try again/],
])('%s says what to do', (error, advice) => {
  expect(failedCall(error)).toMatchObject({ do: expect.stringMatching(advice) as string });
});

test('wrong arguments are named with the nearest right ones', () => {
  const wrong = () => parseBody(jobLog.input, { jobid: 'a', jobId: 'b', level: 'eror', lines: 0 });
  const refusal = (() => {
    try {
      return wrong();
    } catch (error) {
      return failedCall(error);
    }
  })();
  expect(refusal).toMatchObject({
    details: [
      'lines: must be a whole number from 1 to 200',
      'level: unknown level "eror": did you mean "error"?',
      expect.stringMatching(/^jobid: unknown field "jobid": did you mean "jobId"\?/),
    ],
  });
});

test('other errors keep their message', () => {
  expect(failedCall(new ToolError('No job.'))).toEqual({ error: 'No job.' });
  expect(failedCall(new Error('broken'))).toEqual({ error: 'broken' });
});
