import { expect, test } from 'vitest';
import {
  type Answer,
  json,
  playAnswers,
  problem,
} from '../../../test/support/servers/playing-server.ts';
import * as sdk from '../index.ts';

const ID = '01980000-0000-7000-8000-000000000000';

test.each([
  [400, 'VALIDATION_FAILED', sdk.InvalidRequest],
  [413, 'PAYLOAD_TOO_LARGE', sdk.EnqueueError],
  [400, 'PAYLOAD_INVALID', sdk.EnqueueError],
  [415, 'UNSUPPORTED_MEDIA_TYPE', sdk.InvalidRequest],
  [401, 'UNAUTHORIZED', sdk.Unauthorized],
  [403, 'FORBIDDEN', sdk.Forbidden],
  [404, 'NOT_FOUND', sdk.NotFound],
  [409, 'CONFLICT', sdk.Conflict],
  [409, 'IDEMPOTENCY_CONFLICT', sdk.IdempotencyConflict],
  [429, 'RATE_LIMITED', sdk.RateLimited],
  [503, 'UNAVAILABLE', sdk.Unavailable],
  [500, 'INTERNAL', sdk.ProblemError],
])('%i %s is thrown as its own class', async (status, code, expected) => {
  const { url } = await playAnswers(problem(status, code));
  const error = await new sdk.Longshore({ url, retries: 0 })
    .get(ID)
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(sdk.ProblemError);
  expect((error as Error).constructor).toBe(expected);
  expect(error).toMatchObject({ name: expected.name, status, code });
});

test.each<[what: string, answer: Answer]>([
  ['a page', (response) => response.writeHead(404).end('<h1>Cannot GET</h1>')],
  ['its own JSON', json(404, { error: 'not found' })],
])('a 404 of another server, with %s, is no NotFound', async (_, answer) => {
  const { url } = await playAnswers(answer);
  const error = await new sdk.Longshore({ url }).get(ID).catch((thrown: unknown) => thrown);
  expect(error).not.toBeInstanceOf(sdk.NotFound);
  expect(error).toMatchObject({
    name: 'ProblemError',
    status: 404,
    code: 'UNEXPECTED_ANSWER',
    detail: `${url} is no Longshore server: it answered 404 in other words than Longshore does`,
  });
});

test.each<[what: string, answer: Answer]>([
  ['no page', (response) => response.writeHead(404).end('<h1>Not found</h1>')],
  ['a page', (response) => response.writeHead(200).end('<!doctype html>')],
])(
  'the address of the dashboard, with %s, is distinguished from that of the server',
  async (_, answer) => {
    const { url } = await playAnswers(answer);
    const error = await new sdk.Longshore({ url: `${url}/ui/` }).get(ID).catch(String);
    expect(error).toMatch(`: ${url}/ui is the dashboard; the server is ${url}`);
  },
);

test('a refusal for now says how long to wait', async () => {
  const { url } = await playAnswers(problem(429, 'RATE_LIMITED', { 'retry-after': '90' }));
  const call = new sdk.Longshore({ url }).get(ID);
  await expect(call).rejects.toMatchObject({ name: 'RateLimited', retryAfterMs: 90_000 });
});

test('result() resolves with what the job returned, and throws the job that failed', async () => {
  const job = { jobId: ID, definitionKey: 'a', error: null, result: 7 };
  const failure = { code: 'CRASHED', message: 'gone' };
  const { url } = await playAnswers(
    json(200, { ...job, status: 'succeeded' }),
    json(200, { ...job, status: 'failed', result: null, error: failure }),
  );
  const handle = new sdk.Longshore({ url }).handle<number>(ID);
  expect(await handle.result()).toBe(7);
  const error = await handle.result().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(sdk.JobFailed);
  expect(String(error)).toBe(`JobFailed: job ${ID} (a) failed: CRASHED gone`);
});
