import { existsSync, readFileSync } from 'node:fs';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { openStorage } from '../../../src/artifacts/open-storage.ts';
import type { OpenedStorage } from '../../../src/artifacts/storage.ts';
import { Longshore } from '../../../src/client/index.ts';
import { DEFAULT_TENANT } from '../../../src/core/access/scope.ts';
import { Enqueuer } from '../../../src/enqueue/enqueuer.ts';
import { Quotas } from '../../../src/enqueue/quotas.ts';
import { LargeValues } from '../../../src/large/large-values.ts';
import { collectValues } from '../../../src/large/value-collector.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { deleteJob } from '../../../src/store/change/delete-jobs.ts';
import { retryJob } from '../../../src/store/change/retry-job.ts';
import { storedValues } from '../../../src/store/large/large-values.ts';
import { directQueue } from '../../../src/worker/claim/direct-queue.ts';
import {
  ACCESS_KEY,
  BUCKET,
  SECRET_KEY,
  type S3Server,
  startS3Server,
} from '../../support/artifacts/s3-server.ts';
import { FIXTURES } from '../../support/processes.ts';
import { newKey, newTenant } from '../../support/server-edge.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { type ApiServer, apiOn, remoteWorker } from '../../support/servers/remote.ts';
import { jobEnded, scheduling, workerOn, testQueue } from '../../support/servers/worker.ts';
import { until } from '../../support/until.ts';

/** Params and results that are too large for the database, with real processes and storages. */

const RING = `k1:${Buffer.alloc(32, 7).toString('base64')}`;
const MAX = 8 * 1_048_576;
const ROWS = Array.from({ length: 30_000 }, (_, n) => ({ n, name: `row ${n}` }));
const LARGE = { rows: ROWS, password: 'hunter2-long' };

interface Rig {
  large: LargeValues;
  storage: OpenedStorage;
  api: ApiServer;
  client: Longshore;
  folder: string;
}

describe.each([
  ['files', 'direct', null],
  ['files, encrypted', 'direct', RING],
  ['S3, encrypted', 'remote', RING],
] as const)('large values in %s with a %s worker', (kind, transport, encryptionKeys) => {
  const database = sharedDatabase(encryptionKeys === null ? {} : { encryptionKeys });
  const rig = {} as Rig;
  const stops: (() => Promise<unknown>)[] = [];
  let s3: S3Server | null = null;

  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'longshore-large-'));
    stops.push(async () => await rm(folder, { recursive: true }));
    if (kind.startsWith('S3')) {
      s3 = await startS3Server();
      stops.push(s3.stop);
    }
    const credentials = { accessKeyId: ACCESS_KEY, secretAccessKey: SECRET_KEY };
    const storage = s3
      ? await openStorage(`s3://${BUCKET}/values?endpoint=${s3.endpoint}&region=eu-central-1`, {
          credentials,
          attempts: 1,
        })
      : await openStorage(join(folder, 'values'));
    const { db, waker } = database;
    const large = new LargeValues(db, storage, MAX);
    const enqueuer = new Enqueuer(db, waker, systemClock, null, null, false, large);
    const api = await apiOn(database, { enqueuer, large });
    stops.push(api.close, await scheduling(database));
    const jobs = join(FIXTURES, 'large');
    const { worker, stop } =
      transport === 'direct'
        ? workerOn(database, { jobs, queue: directQueue(testQueue(database, db, large)) })
        : remoteWorker(api.url, { jobs });
    await worker.start();
    stops.push(stop);
    const client = new Longshore({ url: api.url });
    Object.assign(rig, { large, storage, api, client, folder });
  });
  afterAll(async () => {
    for (const stop of stops.toReversed()) await stop();
  });

  const rowOf = async (jobId: string) => await storedValues(database.db, DEFAULT_TENANT, jobId);
  const namesOf = async (jobId: string) =>
    (
      await database.sql<{ name: string }>(
        'select name from longshore.large_value where job_id = $1 order by name',
        [jobId],
      )
    ).map(({ name }) => name);
  const collect = async (graceMs = 0) =>
    await collectValues(database.db, rig.storage, silentLog, { graceMs });

  it('reach the job and come back, and the rows are small', async () => {
    const { client } = rig;
    const handle = await client.enqueue('copy', LARGE);
    expect(await handle.result()).toEqual({ ...LARGE, password: '[redacted]' });
    const job = await handle.get();
    const bytes = Buffer.byteLength(JSON.stringify(LARGE));
    expect(job).toMatchObject({ status: 'succeeded', attempts: 1, largeParams: { bytes } });
    expect([job.params, job.largeResult === undefined]).toEqual([null, bytes <= 1_048_576]);
    expect((await rowOf(handle.id))?.params.length).toBeLessThan(300);
    expect(await handle.params()).toEqual({ ...LARGE, password: '[redacted]' });
    expect(await client.value(handle.id, 'params', { reveal: true })).toEqual(LARGE);
    const page = await client.list({ definitionKey: 'copy' });
    expect(page.jobs[0]).toMatchObject({ params: null, largeParams: { bytes } });
    expect(page.unsearched).toEqual([]);
    expect((await client.list({ q: 'absent' })).unsearched).toContain('large');
    expect((await client.deadLetters.list({ q: 'absent' })).unsearched).toContain('large');
    expect((await client.deadLetters.list()).unsearched).toEqual([]);
  });

  it('are results, too', async () => {
    const { client } = rig;
    const handle = await client.enqueue('produce', { chars: 3_000_000 });
    const result = (await handle.result()) as { text: string };
    expect(result.text.length).toBe(3_000_000);
    expect(await handle.get()).toMatchObject({
      result: null,
      largeResult: { bytes: 3_000_011 },
      attempts: 1,
    });
    expect((await rowOf(handle.id))?.result?.length).toBeLessThan(300);
  });

  it.each(['together', 'shell'])('are results of %s, too', async (key) => {
    const { client } = rig;
    const [large, small] = await client.enqueueMany(
      [3_000_000, 10].map((chars) => ({ definition: key, params: { chars } })),
    );
    const result = (await large?.result()) as { text: string } | undefined;
    expect(result?.text.length).toBe(3_000_000);
    expect(await large?.get()).toMatchObject({ result: null, largeResult: { bytes: 3_000_011 } });
    expect(await small?.result()).toEqual({ text: 'x'.repeat(10) });
    const beyond = await client.enqueue(key, { chars: MAX });
    const error = { code: 'RESULT_TOO_LARGE', message: expect.stringContaining(`${MAX}`) };
    expect(await beyond.wait()).toMatchObject({ error });
  });

  it('are params of children, too', async () => {
    const { client } = rig;
    const handle = await client.enqueue('parent', LARGE);
    expect(await handle.result()).toEqual([
      { rows: ROWS.length, last: ROWS.at(-1) },
      { rows: 1, last: 1 },
    ]);
    const { jobs } = await client.list({ definitionKey: 'count' });
    const bytes = Buffer.byteLength(JSON.stringify(LARGE));
    expect(jobs.map(({ largeParams }) => largeParams?.bytes)).toContain(bytes);
  });

  it('are refused beyond the limit', async () => {
    const { client } = rig;
    const tooLarge = { code: 'PAYLOAD_TOO_LARGE' };
    const text = 'x'.repeat(MAX);
    await expect(client.enqueue('copy', { text })).rejects.toMatchObject(tooLarge);
    const replaces = { unique: { while: 'queued', onConflict: 'replace' } } as const;
    await expect(
      client.enqueue('copy', { text: text.slice(0, 200_000) }, replaces),
    ).rejects.toMatchObject(tooLarge);
    const handle = await client.enqueue('produce', { chars: MAX });
    expect(await handle.wait()).toMatchObject({ error: { code: 'RESULT_TOO_LARGE' } });
  });

  it('reach followers while they fit into the results of all parents', async () => {
    const { client } = rig;
    const parents = await Promise.all(
      [3_000_000, 4_500_000, 2_000_000, 10].map(
        async (chars) => await client.enqueue('produce', { chars }),
      ),
    );
    const after = parents.map(({ id }) => id);
    const handle = await client.enqueue('measure', {}, { after });
    expect(await handle.result()).toEqual([3_000_000, 4_500_000, null, 10]);
  });

  it('reach hooks', async () => {
    const file = join(rig.folder, 'hooked');
    const handle = await rig.client.enqueue('hooked', { rows: [...ROWS, ...ROWS], file });
    await handle.result();
    await until('the hook has run', () => existsSync(file) && readFileSync(file, 'utf8') !== '');
    expect(readFileSync(file, 'utf8')).toBe('60000 60000');
  });

  it('belong to their tenant', async () => {
    const handle = await rig.client.enqueue('copy', LARGE);
    await handle.wait();
    const acme = `acme-${transport}`;
    await newTenant(database, acme);
    const { key: apiKey } = await newKey(database, acme, 'admin');
    const other = new Longshore({ url: rig.api.url, apiKey });
    await expect(other.value(handle.id, 'params')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    const { params = '' } = (await rowOf(handle.id)) ?? {};
    await expect(rig.large.open(acme, params)).rejects.toThrow('belongs to another tenant');
    await database.sql('delete from longshore.api_key');
  });

  it('cannot be named by a caller', async () => {
    const { client } = rig;
    const victim = await client.enqueue('copy', LARGE);
    await victim.wait();
    const { params: reference = '' } = (await rowOf(victim.id)) ?? {};
    const forged = { code: 'PAYLOAD_INVALID' };
    await expect(client.enqueue('copy', JSON.parse(reference))).rejects.toMatchObject(forged);
    const alike = { largeParams: { bytes: 7 }, name: (await namesOf(victim.id))[0] };
    const data = await client.enqueue('copy', alike);
    expect(await data.result()).toEqual(alike);
    expect(await data.params()).toEqual(alike);
    expect(await client.value(data.id, 'result')).toEqual(alike);
  });

  it('are deleted with their job, and when their job was never stored', async () => {
    const { client } = rig;
    const options = { idempotencyKey: `once-${transport}` };
    const handle = await client.enqueue('copy', LARGE, options);
    // Its own value is not needed: the job exists.
    const again = await client.enqueue('copy', LARGE, options);
    expect(again.id).toBe(handle.id);
    await handle.wait();
    const all = async () =>
      (await database.sql<{ name: string }>('select name from longshore.large_value')).length;
    const before = await all();
    expect(await collect(3_600_000)).toBe(0);
    expect(await collect()).toBe(1);
    const names = await namesOf(handle.id);
    expect(names).toHaveLength(1);
    expect(await rig.storage.head(names[0] ?? '')).not.toBeNull();
    await deleteJob(database.db, DEFAULT_TENANT, handle.id);
    expect(await collect()).toBe(1);
    expect(await rig.storage.head(names[0] ?? '')).toBeNull();
    expect(await all()).toBe(before - 2);
  });

  it('that an attempt wrote in vain are deleted when the job has ended', async () => {
    const handle = await rig.client.enqueue('produce', { chars: 2_000_000 });
    await rig.large.put(DEFAULT_TENANT, handle.id, 'result', JSON.stringify('y'.repeat(1_500_000)));
    await jobEnded(database, handle.id);
    expect(await namesOf(handle.id)).toHaveLength(2);
    expect(await collect()).toBe(1);
    expect(((await handle.result()) as { text: string }).text.length).toBe(2_000_000);
  });

  it('that are missing fail the job without an attempt, and it can be retried', async () => {
    const { client, storage } = rig;
    const handle = await client.enqueue('count', LARGE, { hold: true });
    const [name = ''] = await namesOf(handle.id);
    const chunks: Uint8Array[] = [];
    for await (const chunk of await storage.get(name)) chunks.push(chunk);
    const kept = Buffer.concat(chunks);
    await storage.delete(name);
    await client.release(handle.id);
    const failed = await handle.wait();
    expect(failed).toMatchObject({ status: 'failed', attempts: 0 });
    expect(failed.error).toMatchObject({ code: 'LARGE_VALUE_LOST' });
    expect(failed.error?.message).toContain('does not have');
    await expect(handle.params()).rejects.toMatchObject({ status: 410, code: 'LARGE_VALUE_LOST' });
    async function* all() {
      yield kept;
    }
    await storage.put(name, kept.length, all());
    await retryJob(database.db, DEFAULT_TENANT, handle.id, {
      mode: 'now',
      runAt: null,
      paramsJson: null,
    });
    expect(await handle.result()).toMatchObject({ rows: 30_000 });
  });

  it.runIf(kind.startsWith('files'))('that were changed are not used', async () => {
    const { client, folder } = rig;
    const handle = await client.enqueue('count', LARGE, { hold: true });
    const [name = ''] = await namesOf(handle.id);
    const file = join(folder, 'values', name);
    const text = await readFile(file, 'utf8');
    expect(text.includes('row 29999')).toBe(encryptionKeys === null);
    await writeFile(file, text.replace(/[0-9](?=[^0-9]*$)/, 'x'));
    await client.release(handle.id);
    expect((await handle.wait()).error).toMatchObject({ code: 'LARGE_VALUE_LOST' });
    expect((await readdir(join(folder, 'values'))).every((one) => one.startsWith('value.'))).toBe(
      true,
    );
  });

  it.runIf(encryptionKeys !== null)('open only for their own job and kind', async () => {
    const handle = await rig.client.enqueue('copy', LARGE);
    const other = await rig.client.enqueue('copy', { ...LARGE, other: true });
    await Promise.all([handle.wait(), other.wait()]);
    const [name = ''] = await namesOf(handle.id);
    const get = async (jobId: string, kindOf: 'params' | 'result') =>
      await rig.large.get(DEFAULT_TENANT, {
        name,
        tenant: DEFAULT_TENANT,
        jobId,
        kind: kindOf,
        bytes: 1,
      });
    expect(JSON.parse(await get(handle.id, 'params'))).toEqual(LARGE);
    await expect(get(other.id, 'params')).rejects.toThrow('does not open it');
    await expect(get(handle.id, 'result')).rejects.toThrow('does not open it');
  });

  it.runIf(kind.startsWith('S3'))('wait while the storage fails, and use no attempt', async () => {
    const { client } = rig;
    const handle = await client.enqueue('count', LARGE, { hold: true });
    if (s3) s3.down = true;
    await expect(client.enqueue('copy', LARGE)).rejects.toMatchObject({ status: 503 });
    await client.release(handle.id);
    const waiting = await until('it waits', async () => {
      const job = await handle.get();
      return job.status === 'scheduled' && job;
    });
    expect(waiting).toMatchObject({ attempts: 0, error: null });
    if (s3) s3.down = false;
    expect(await handle.result()).toMatchObject({ rows: 30_000 });
    expect(await handle.get()).toMatchObject({ attempts: 1 });
  });

  it('count against the quota of bytes', async () => {
    const limits = {
      tenantQueuedMax: 0,
      tenantQueuedBytesMax: 1_000_000_000,
      tenantSchedulesMax: 0,
      tenantWebhooksMax: 0,
    };
    const held = await rig.client.enqueue('copy', LARGE, { hold: true });
    const { db } = database;
    const small = { ...limits, tenantQueuedBytesMax: 500_000 };
    await new Quotas(db, systemClock, limits).permitJobs(DEFAULT_TENANT, ['{}']);
    await expect(
      new Quotas(db, systemClock, small).permitJobs(DEFAULT_TENANT, ['{}']),
    ).rejects.toThrow('bytes of params');
    await rig.client.cancel(held.id);
  });
});
