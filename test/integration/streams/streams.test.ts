import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Longshore } from '../../../src/client/index.ts';
import { defineJob } from '../../../src/core/definition/define.ts';
import { HttpServer } from '../../../src/http/server.ts';
import { StreamPageAnswer } from '../../../src/protocol/answers/history-answer.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { writeStreamChunks } from '../../../src/store/attempt/stream-chunks.ts';
import { deleteJob } from '../../../src/store/change/delete-jobs.ts';
import type { ClaimedJob } from '../../../src/store/claim/claim.ts';
import { readStream } from '../../../src/store/read/read-stream.ts';
import { claimSubject, reachOwned } from '../../support/checks/reach-state.ts';
import { claimAny, enqueueOne, newWorker, settleAs, SUCCESS } from '../../support/jobs.ts';
import { postgresVersions, sharedDatabase } from '../../support/servers/database.ts';
import { listen } from '../../support/servers/live-stream.ts';
import { apiOn, remoteWorker } from '../../support/servers/remote.ts';
import { jobEnded, scheduling, workerOn } from '../../support/servers/worker.ts';
import { until } from '../../support/until.ts';

const LOST = { kind: 'lost', message: 'gone' } as const;

describe.each(postgresVersions())('the stream of a job, on PostgreSQL %i', (postgres) => {
  const database = sharedDatabase({ postgres });

  const write = async ({ id, claim, attempts }: ClaimedJob, n: number, data: string) =>
    await writeStreamChunks(database.db, 0, [{ id, claim, attempt: attempts, n, data }]);

  const read = async (id: string, afterId: string | null = null) => {
    const page = await readStream(database.db, 'default', id, afterId);
    return page?.entries.map(({ id: of, text }) => `${of} ${text ?? 'begins'}`);
  };

  it('has the chunks of the claim in order, and goes on after any of them', async () => {
    const { job, id } = await reachOwned(database);
    expect(await read(id)).toEqual(['1-0-0 begins']);
    for (const [n, text] of ['a', 'b', 'c'].entries()) await write(job, n, text);
    expect(await read(id)).toEqual(['1-0-0 begins', '1-1-0 a', '1-2-0 b', '1-3-0 c']);
    expect(await read(id, '1-0-0')).toEqual(['1-1-0 a', '1-2-0 b', '1-3-0 c']);
    expect(await read(id, '1-2-0')).toEqual(['1-3-0 c']);
    expect(await read(id, '1-3-0')).toEqual([]);
  });

  it('takes a chunk once', async () => {
    const { job, id } = await reachOwned(database);
    await write(job, 0, 'first');
    await write(job, 0, 'again');
    expect(await read(id, '1-0-0')).toEqual(['1-1-0 first']);
  });

  it('starts over with the next claim, and refuses chunks of a lost one', async () => {
    const subject = await reachOwned(database);
    await write(subject.job, 0, 'old');
    await write(subject.job, 1, 'older');
    await settleAs(database, subject.job, LOST);
    expect(await read(subject.id, '1-1-0')).toEqual(['1-2-0 older']);
    const [current] = await claimSubject(database, subject);
    if (!current) throw new Error('not claimed');
    await write(subject.job, 2, 'stale');
    expect(await read(subject.id, '1-2-0')).toEqual(['2-0-0 begins']);
    await write(current, 0, 'new');
    await write(subject.job, 0, 'stale');
    expect(await read(subject.id, '1-2-0')).toEqual(['2-0-0 begins', '2-1-0 new']);
    expect(await rowsOf(subject.id)).toBe(1);
    await settleAs(database, current, SUCCESS);
    await write(current, 1, 'late');
    expect(await readStream(database.db, 'default', subject.id, '2-1-0')).toEqual({
      entries: [],
      nextId: null,
      ended: true,
      status: 'succeeded',
    });
  });

  it('keeps the chunks of other jobs when one starts over', async () => {
    const [again, other] = [await reachOwned(database), await reachOwned(database)];
    for (const { job } of [again, other]) await write(job, 0, 'text');
    await settleAs(database, again.job, LOST);
    const [current] = await claimSubject(database, again);
    if (!current) throw new Error('not claimed');
    await write(current, 0, 'new');
    expect(await read(other.id, '1-0-0')).toEqual(['1-1-0 text']);
  });

  it('comes in pages', async () => {
    const { job, id } = await reachOwned(database);
    for (let n = 0; n < 70; n += 1) await write(job, n, `${n} `);
    let text = '';
    let afterId: string | null = null;
    let pages = 0;
    do {
      const page = await readStream(database.db, 'default', id, afterId);
      text += page?.entries.map((one) => one.text ?? '').join('') ?? '';
      afterId = page?.nextId ?? null;
      pages += 1;
    } while (afterId !== null);
    expect(text).toBe(Array.from({ length: 70 }, (_, n) => `${n} `).join(''));
    expect(pages).toBe(3);
  });

  it('is deleted with its job, and not shown to another tenant', async () => {
    const { job, id } = await reachOwned(database);
    await write(job, 0, 'text');
    await settleAs(database, job, SUCCESS);
    expect(await readStream(database.db, 'other', id, null)).toBeNull();
    await deleteJob(database.db, 'default', id);
    expect(await rowsOf(id)).toBe(0);
    expect(await read(id)).toBeUndefined();
  });

  async function rowsOf(id: string): Promise<number> {
    const [row] = await database.sql(
      `select count(*)::int as rows from longshore.stream_chunk where job_id = '${id}'`,
    );
    return Number(row?.['rows']);
  }
});

describe('ctx.stream', () => {
  const database = sharedDatabase();
  let server: HttpServer;
  let client: Longshore;

  beforeAll(async () => {
    const { db, enqueuer } = database;
    const deps = { db, enqueuer, log: silentLog, host: '127.0.0.1', port: 0, version: '0' };
    server = new HttpServer({ ...deps, streams: { pollMs: 20, pollMaxMs: 40 } });
    await server.start();
    client = new Longshore({ url: server.address });
  });
  afterAll(async () => await server.stop());

  const words = 'one two three, ünd 😀\n'.repeat(40).split(/(?<= )/);
  let go = Promise.withResolvers<void>();
  const tell = defineJob({
    key: 'tell',
    isolation: 'inline',
    maxAttempts: 2,
    retry: { baseMs: 1, maxMs: 1, jitter: 0 },
    run: async ({ fails = false, token }: { fails?: boolean; token?: string }, ctx) => {
      ctx.stream(`attempt ${ctx.attempt}: `);
      await go.promise;
      for (const word of words) {
        ctx.stream(word);
        await new Promise((resolve) => setImmediate(resolve));
      }
      // A secret in two pieces.
      if (token !== undefined) [token.slice(0, 3), token.slice(3)].forEach(ctx.stream);
      if (fails && ctx.attempt === 1) throw new Error('the first attempt fails');
      return 'told';
    },
  });
  const flood = defineJob({
    key: 'flood',
    isolation: 'inline',
    maxAttempts: 1,
    run: (_params, ctx) => {
      for (;;) ctx.stream('x'.repeat(1_000));
    },
  });

  async function textOf(jobId: string): Promise<string> {
    let text = '';
    for await (const chunk of client.stream(jobId)) text += chunk.text;
    return text;
  }

  async function withWorker(work: () => Promise<void>, streamMaxBytes?: number): Promise<void> {
    const worker = workerOn(database, { jobs: [tell, flood], streamMaxBytes });
    const stopScheduling = await scheduling(database);
    await worker.worker.start();
    try {
      await work();
    } finally {
      await worker.stop();
      await stopScheduling();
    }
  }

  it('reaches a reader while the job runs, and a later one completely', async () => {
    go = Promise.withResolvers();
    await withWorker(async () => {
      const handle = await client.enqueue(tell, {});
      const reading = handle.stream()[Symbol.asyncIterator]();
      expect((await reading.next()).value).toMatchObject({ text: 'attempt 1: ', attempt: 1 });
      expect((await handle.get()).status).toBe('running');
      go.resolve();
      let text = '';
      for (let next = await reading.next(); !next.done; next = await reading.next()) {
        text += next.value.text;
      }
      expect(text).toBe(words.join(''));
      expect(await handle.result()).toBe('told');
      expect(await textOf(handle.id)).toBe(`attempt 1: ${text}`);
    });
  });

  it('says when it starts over, and how the job ended', async () => {
    go = Promise.withResolvers();
    await withWorker(async () => {
      const handle = await client.enqueue(tell, { fails: true });
      const { messages, closed } = await listen(`${server.address}/v1/jobs/${handle.id}/stream`);
      await until('the first attempt has streamed', () => messages.length >= 2);
      go.resolve();
      expect(await closed).toBe('closed');
      const told = messages.map(({ event, data }) => ({
        event,
        ...(JSON.parse(data) as { text?: string | null; attempt?: number; status?: string }),
      }));
      const second = told.findIndex((one) => one.event === 'attempt' && one.attempt === 2);
      const text = (from: number) =>
        told.slice(from).flatMap((one) => (one.event === 'chunk' ? [one.text] : []));
      expect(told[0]).toMatchObject({ event: 'attempt', attempt: 1, text: null });
      expect(text(second).join('')).toBe(`attempt 2: ${words.join('')}`);
      expect(told.at(-1)).toEqual({ event: 'end', status: 'succeeded' });
      const last = messages.at(-2)?.id ?? '';
      const headers = { accept: 'text/event-stream', 'last-event-id': last };
      const again = await fetch(`${server.address}/v1/jobs/${handle.id}/stream`, { headers });
      expect(again.status).toBe(204);
    });
  });

  it('can be read as a page, and an unclear position is refused', async () => {
    const id = await enqueueOne(database);
    const [job] = await claimAny(database, await newWorker(database), 1);
    if (job?.id !== id) throw new Error('another job was claimed');
    await writeStreamChunks(database.db, 0, [{ id, claim: 1, attempt: 1, n: 0, data: 'text' }]);
    const path = `${server.address}/v1/jobs/${id}/stream`;
    const page = StreamPageAnswer.parse(await (await fetch(path)).json());
    expect(page).toEqual({
      stream: [
        { id: '1-0-0', attempt: 1, text: null },
        { id: '1-1-0', attempt: 1, text: 'text' },
      ],
      nextCursor: null,
    });
    expect((await fetch(`${path}?cursor=x`)).status).toBe(400);
    await settleAs(database, job, SUCCESS);
  });

  it('hides the secrets of the params, also when they come in pieces', async () => {
    go = Promise.withResolvers();
    go.resolve();
    await withWorker(async () => {
      const handle = await client.enqueue(tell, { token: 'canary-4711' });
      await handle.wait();
      const stored = await database.sql(
        `select string_agg(data, '' order by n) as text from longshore.stream_chunk
         where job_id = '${handle.id}'`,
      );
      expect(String(stored[0]?.['text'])).toMatch(/\[redacted\]$/);
      expect(String(stored[0]?.['text'])).not.toContain('canary');
    });
  });

  it('refuses too much text with an error that names the setting', async () => {
    await withWorker(async () => {
      const handle = await client.enqueue(flood, {});
      const { error } = await handle.wait();
      expect(error?.message).toContain('an attempt may stream 5000 bytes');
      expect(await textOf(handle.id)).toBe('x'.repeat(5_000));
    }, 5_000);
  });

  it('works for a worker over HTTP', async () => {
    go = Promise.withResolvers();
    go.resolve();
    const api = await apiOn(database);
    const remote = remoteWorker(api.url, { jobs: [tell] });
    await remote.worker.start();
    try {
      const handle = await client.enqueue(tell, { token: 'canary-4711' });
      await jobEnded(database, handle.id);
      expect(await textOf(handle.id)).toBe(`attempt 1: ${words.join('')}[redacted]`);
    } finally {
      await remote.stop();
      await api.close();
    }
  });
});
