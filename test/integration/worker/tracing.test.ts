import { context, SpanKind, trace } from '@opentelemetry/api';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { Longshore } from '../../../src/client/index.ts';
import { traceContextOf } from '../../../src/core/values/trace-context.ts';
import { createLongshore } from '../../../src/index.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { serverOn, callAs } from '../../support/server-edge.ts';
import { json, playAnswers } from '../../support/servers/playing-server.ts';
import { FIXTURES } from '../../support/processes.ts';
import { until } from '../../support/until.ts';

interface SpanLine {
  name: string;
  kind: SpanKind;
  traceId: string;
  spanId: string;
  parentSpanId: string | null;
  linked: string[];
  attributes: Record<string, unknown>;
  status: { code: number; message?: string };
  pid: number;
}

const database = sharedDatabase();
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'longshore-tracing-'));
});
afterAll(async () => await rm(folder, { recursive: true }));

const stored = async (jobId: string) => {
  const find = 'select traceparent from longshore.job where id = $1';
  return (await database.sql<{ traceparent: string | null }>(find, [jobId]))[0]?.traceparent;
};

it('remembers where its caller was, without an SDK, through every door', async () => {
  const app = serverOn(database);
  onTestFinished(async () => await app.close());
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const doors: [string, object, (body: Record<string, unknown>) => unknown][] = [
    ['/v1/jobs', { definitionKey: 'a' }, ({ jobId }) => jobId],
    ['/v1/jobs', { definitionKey: 'a', tags: ['not-plain'] }, ({ jobId }) => jobId],
    [
      '/v1/jobs/batch',
      { jobs: [{ definitionKey: 'a' }] },
      ({ jobs }) => (jobs as { jobId: string }[])[0]?.jobId,
    ],
    ['/jobs', { jobType: 'a', payload: {} }, ({ jobId }) => jobId],
    ['/jobber/queue', { type: 'a', payload: {} }, (body) => body['job-id']],
    ['/api/jobs/enqueue', { type: 'a', payload: {} }, ({ id }) => id],
  ];
  for (const [path, payload, idIn] of doors) {
    const ask = async (header: string) => {
      const more = { payload, headers: { traceparent: header } };
      const { status, body } = await callAs(app, null, 'POST', path, more);
      expect([path, status < 300]).toEqual([path, true]);
      return [path, await stored(String(idIn(body)))];
    };
    expect(await ask(traceparent)).toEqual([path, traceparent]);
    expect(await ask('nonsense')).toEqual([path, null]);
  }
});

it('is traced from its caller to the spans of its own code, in real processes', async () => {
  const file = join(folder, 'spans.jsonl');
  process.env['TRACED_SPANS'] = file;
  const fixture = join(FIXTURES, 'traced');
  await import(join(fixture, 'register.ts'));
  onTestFinished(() => {
    trace.disable();
    context.disable();
  });
  const longshore = await createLongshore({
    databaseUrl: database.url,
    jobs: join(fixture, 'jobs'),
    tracing: join(fixture, 'register.ts'),
    runnerEnv: 'TRACED_SPANS',
    // All processes write to one file.
    runnerUids: 'none',
    concurrency: 1,
    pollMs: 200,
  });
  onTestFinished(async () => await longshore.stop());
  const { url, seen } = await playAnswers(json(202, { jobId: 'x', status: 'queued' }));

  const { jobs, sentOver } = await trace
    .getTracer('app')
    .startActiveSpan('request', async (span) => {
      const handles = [
        await longshore.enqueue('twice'),
        await longshore.enqueue('threaded'),
        await longshore.enqueue('command'),
        await longshore.enqueue('leaky', { password: 'canary-in-params' }),
      ];
      await new Longshore({ url }).enqueue('elsewhere');
      const { traceId, spanId } = span.spanContext();
      span.end();
      return { jobs: handles, sentOver: `00-${traceId}-${spanId}-01` };
    });
  // The client says where it is called, so that the job is linked to that.
  expect(seen[0]?.headers['traceparent']).toBe(sentOver);

  const results = [];
  for (const job of jobs) results.push((await job.wait()).result);
  const spans = await until('all spans are written', async () => {
    const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
    const read = lines.map((line) => JSON.parse(line) as SpanLine);
    return read.length >= 14 && read;
  });
  const named = (name: string) => spans.filter((span) => span.name === name);
  const [request] = named('request');
  const [send] = named('send twice');
  expect(send).toMatchObject({
    kind: SpanKind.PRODUCER,
    traceId: request?.traceId,
    parentSpanId: request?.spanId,
    attributes: { 'messaging.message.id': jobs[0]?.id, 'messaging.system': 'longshore' },
  });
  expect(traceContextOf((await stored(jobs[0]?.id ?? '')) ?? '').spanId).toBe(send?.spanId);

  const attempts = named('process twice');
  expect(attempts).toMatchObject([
    {
      kind: SpanKind.CONSUMER,
      parentSpanId: null,
      linked: [send?.spanId],
      attributes: { 'longshore.attempt': 1, 'error.type': 'HANDLER_ERROR' },
      status: { code: 2, message: 'HANDLER_ERROR' },
    },
    { parentSpanId: null, linked: [send?.spanId], attributes: { 'longshore.attempt': 2 } },
  ]);
  // Each attempt is a trace of its own, and what the job does hangs below it, in another process.
  expect(new Set([request, ...attempts].map((span) => span?.traceId)).size).toBe(3);
  for (const [index, attempt] of attempts.entries()) {
    const [work] = named(`work ${index + 1}`);
    expect(work).toMatchObject({ traceId: attempt.traceId, parentSpanId: attempt.spanId });
    expect(new Set([process.pid, attempt.pid, work?.pid]).size).toBe(3);
  }
  const [threaded] = named('process threaded');
  expect(named('work in a thread')).toMatchObject([{ parentSpanId: threaded?.spanId }]);
  const [command] = named('process command');
  expect(results[2]).toBe(`00-${command?.traceId}-${command?.spanId}-01`);

  // A job may tell what it wants in spans of its own; ours tell neither what it was given nor what it threw.
  expect(named('the work with canary-in-params')).toHaveLength(1);
  const ours = spans.filter(({ name }) => !/^(request$|work |the work )/.test(name));
  expect(ours.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['send leaky', 'process leaky']),
  );
  expect(JSON.stringify(ours)).not.toContain('canary');
  expect(named('process leaky')).toMatchObject([{ status: { message: 'HANDLER_ERROR' } }]);
});
