import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { HttpServer } from '../../../src/http/server.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { PAGE_CHARS_MAX } from '../../../src/store/read/read-events.ts';
import { LOG_PAGE_CHARS_MAX } from '../../../src/store/read/read-logs.ts';
import { writeLogChunks } from '../../../src/store/attempt/log-chunks.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { claimAny, enqueueOne, newWorker } from '../../support/jobs.ts';
import { chunk } from '../../support/history.ts';

/** What one call may cost the others: docs/operate/security.md names the attack that each of these was. */
const database = sharedDatabase();
let server: HttpServer;

beforeAll(async () => {
  const bare = { log: silentLog, host: '127.0.0.1', port: 0, version: '0' };
  server = new HttpServer({ ...database, ...bare });
  await server.start();
});
afterAll(async () => await server.stop());

const call = async (path: string, body?: string) => {
  const headers = { 'content-type': 'application/json' };
  const post = { method: 'POST', headers, body: body ?? null };
  const answer = await fetch(server.address + path, body === undefined ? {} : post);
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
};

describe('a body that is expensive to read', () => {
  /** What the server parsed for this call. */
  const parsedBy = async (path: string, body: string) => {
    const parse = vi.spyOn(JSON, 'parse');
    const answer = await call(path, body);
    const calls = parse.mock.calls.map(([text, reviver]) => ({ length: text.length, reviver }));
    parse.mockRestore();
    return { ...answer, code: answer.body['code'], calls };
  };

  it.each([
    ['of 16 MB of empty objects', '/v1/jobs/batch', `{"jobs":[${'{},'.repeat(5_400_000)}{}]}`],
    ['of 1 MB of numbers', '/v1/jobs', `{"definitionKey":"a","params":[${'1,'.repeat(450_000)}1]}`],
    ['of 500 levels', '/v1/jobs', `{"params":${'['.repeat(500)}${']'.repeat(500)}}`],
  ])('%s is refused before it is parsed', async (_, path, body) => {
    const { status, code, calls } = await parsedBy(path, body);
    expect([status, code]).toEqual([400, 'JSON_TOO_COMPLEX']);
    // Only the answer was, by this test.
    expect(calls.filter(({ length }) => length > 2_000)).toEqual([]);
  });

  it('for a login is refused at 4 KB', async () => {
    const body = `{"key":${'1'.repeat(16)},"more":[${'1,'.repeat(2_500)}1]}`;
    expect(await parsedBy('/v1/session', body)).toMatchObject({
      status: 413,
      code: 'PAYLOAD_TOO_LARGE',
    });
  });

  it('because of one long number calls no function for each value', async () => {
    const params = { id: 1000000000000000, list: Array(20_000).fill(1) };
    const body = JSON.stringify({ definitionKey: 'a', params });
    const { status, calls } = await parsedBy('/v1/jobs', body);
    expect(status).toBe(202);
    expect(calls.filter(({ reviver }) => typeof reviver === 'function')).toEqual([]);
    expect(calls.filter(({ length }) => length === body.length)).toHaveLength(1);
  });

  it('is read in parts when it is a large batch, with the same answer', async () => {
    const job = (n: number) => ({ definitionKey: 'part', params: { n, text: 'x'.repeat(3_000) } });
    const body = JSON.stringify({ jobs: Array.from({ length: 700 }, (_, n) => job(n)) });
    const { status, body: answer, calls } = await parsedBy('/v1/jobs/batch', body);
    expect([status, (answer['jobs'] as unknown[]).length]).toEqual([202, 700]);
    expect(Math.max(...calls.map(({ length }) => length))).toBeLessThan(200_000);
  });
});

describe('a page of what is large', () => {
  // Crafted: a search for each of these secrets in turn compares most of the text each time.
  const params = {
    secret: Array.from({ length: 256 }, (_, n) => `${'a'.repeat(330)}${n}`),
    note: 'a'.repeat(40_000),
  };

  it('ends early, and the next one goes on there', async () => {
    const made = new Set<string>();
    for (let n = 0; n < 21; n += 1) {
      const paramsJson = JSON.stringify(params);
      made.add(await enqueueOne(database, { definitionKey: 'large', paramsJson }));
    }
    for (const sort of ['-createdAt', 'createdAt', '-priority']) {
      const seen = new Set<string>();
      const sizes: number[] = [];
      let cursor: unknown = null;
      do {
        const from = cursor === null ? '' : `&cursor=${encodeURIComponent(String(cursor))}`;
        const only = 'definitionKey=large&status=queued&limit=100';
        const { body } = await call(`/v1/jobs?${only}&sort=${sort}${from}`);
        const jobs = body['jobs'] as { jobId: string; params: { secret: unknown } }[];
        for (const { jobId, params: shown } of jobs) {
          seen.add(jobId);
          expect(shown.secret).toBe('[redacted]');
        }
        sizes.push(jobs.length);
        cursor = body['nextCursor'];
      } while (cursor !== null);
      expect([sort, seen]).toEqual([sort, made]);
      expect(Math.max(...sizes)).toBeLessThan(21);
    }
  });

  it('of log lines does so, too', async () => {
    const paramsJson = JSON.stringify(params);
    const jobId = await enqueueOne(database, { definitionKey: 'noisy', paramsJson, priority: 9 });
    const [claim] = await claimAny(database, await newWorker(database), 1);
    if (claim?.id !== jobId) throw new Error('another job was claimed');
    const lines = Array.from({ length: 200 }, (_, n) => `${n} ${'a'.repeat(9_000)}`);
    await writeLogChunks(database.db, 0, [chunk(claim, 0, lines)]);
    const read: string[] = [];
    let cursor: unknown = null;
    do {
      const from = cursor === null ? '' : `&cursor=${String(cursor)}`;
      const { body } = await call(`/v1/jobs/${jobId}/logs?limit=1000${from}`);
      const logs = (body['logs'] as { message: string }[]).map(({ message }) => message);
      expect(logs.join('').length).toBeLessThanOrEqual(LOG_PAGE_CHARS_MAX);
      read.push(...logs);
      cursor = body['nextCursor'];
    } while (cursor !== null);
    expect(read).toEqual(lines);
  });

  it('of events does so, too, and so do attempts', async () => {
    const jobId = await enqueueOne(database, { definitionKey: 'talker', priority: 9 });
    const [claim] = await claimAny(database, await newWorker(database), 1);
    if (claim?.id !== jobId) throw new Error('another job was claimed');
    await database.sql(
      `insert into longshore.event (shard, job_id, claim_no, n, attempt, type, cancelling, at, payload)
       select 0, $1, 1, n, 1, 'custom', false, now(), json_build_object('n', n, 'x', repeat('a', 60000))
       from generate_series(0, 99) n`,
      [jobId],
    );
    await database.sql(
      `insert into longshore.attempt
         (shard, job_id, claim_no, number, worker, started_at, finished_at, next, error)
       select 0, $1, n, n, gen_random_uuid(), now(), now(), 'retrying',
         json_build_object('code', 'X', 'message', repeat('a', 60000), 'stack', null, 'cause', null)
       from generate_series(2, 101) n`,
      [jobId],
    );
    const seen: string[] = [];
    let cursor: unknown = null;
    do {
      const from = cursor === null ? '' : `&cursor=${String(cursor)}`;
      const { body } = await call(`/v1/jobs/${jobId}/events?limit=1000${from}`);
      const events = body['events'] as { id: string; type: string; payload: { n: number } }[];
      expect(JSON.stringify(events).length).toBeLessThan(3 * PAGE_CHARS_MAX);
      seen.push(...events.map(({ id }) => id));
      cursor = body['nextCursor'];
    } while (cursor !== null);
    expect(seen.filter((id) => id.startsWith('1-2-'))).toHaveLength(100);
    expect(new Set(seen.map((id) => id.split('-')[0])).size).toBe(102);
    expect(new Set(seen).size).toBe(seen.length);
    const { body } = await call(`/v1/jobs/${jobId}/attempts`);
    const attempts = body['attempts'] as { number: number }[];
    expect(attempts.at(-1)?.number).toBe(101);
    expect(attempts.length).toBeLessThan(40);
  });
});
