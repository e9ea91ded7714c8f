import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { FileStorage } from '../../../src/artifacts/file-storage.ts';
import { reportName } from '../../../src/core/report/report-name.ts';
import { buildServer } from '../../../src/http/build-server.ts';
import { reportLink } from '../../../src/reports/report-link.ts';
import { StoredReports } from '../../../src/reports/stored-reports.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { scratch } from '../../support/artifacts/scratch.ts';
import { sharedDatabase } from '../../support/servers/database.ts';

const database = sharedDatabase();
const SECRET = 'a secret of the test';
const CONTENT = Buffer.from('n\r\n1\r\n'.repeat(50_000));
const SHA256 = createHash('sha256').update(CONTENT).digest('hex');
const LATER = new Date('2030-01-08T12:00:00Z');
const NAME = reportName('acme', LATER, SHA256);

async function* chunks(): AsyncGenerator<Uint8Array> {
  yield CONTENT;
}

async function served(now: string, more: { secret?: null; none?: true } = {}) {
  const folder = await scratch();
  const storage = new FileStorage(folder);
  await storage.put(NAME, CONTENT.length, chunks());
  const clock = { ...systemClock, now: () => new Date(now) };
  const reports = new StoredReports(storage, more.secret === null ? null : SECRET, clock);
  const { db, enqueuer } = database;
  const deps = { db, enqueuer, log: silentLog, host: '127.0.0.1', port: 0, version: '0' };
  const app = buildServer({ ...deps, ...(!more.none && { reports }) });
  const get = async (url: string) => await app.inject({ url, headers: { host: '127.0.0.1' } });
  return { folder, storage, reports, get };
}

const link = (file = 'sales.csv', name = NAME) => reportLink('', { name, file }, LATER, SECRET);

describe('a link to a report', () => {
  it('downloads the file without a key', async () => {
    const { get } = await served('2030-01-02T00:00:00Z');
    const { statusCode, headers, rawPayload } = await get(link());
    expect(statusCode).toBe(200);
    expect(rawPayload.equals(CONTENT)).toBe(true);
    expect(headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': 'attachment; filename="sales.csv"',
      'content-length': String(CONTENT.length),
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    });
  });

  it.each([
    ['expired', '2030-01-08T12:00:00Z', link(), 410, 'LINK_EXPIRED'],
    ['of another tenant', '2030-01-02', link().replace('acme', 'rival'), 403, 'FORBIDDEN'],
    ['with another file', '2030-01-02', link().replace('sales', 'x'), 403, 'FORBIDDEN'],
    ['with another time', '2030-01-02', link().replace('=18', '=19'), 403, 'FORBIDDEN'],
    ['without a signature', '2030-01-02', link().replace(/\?.*/, ''), 403, 'FORBIDDEN'],
    ['to no report', '2030-01-02', link('a.csv', SHA256), 404, 'NOT_FOUND'],
    ['with a path', '2030-01-02', link('%2e%2e%2fa.csv'), 404, 'NOT_FOUND'],
  ])('%s is refused', async (_, now, url, status, code) => {
    const { get } = await served(now);
    const answer = await get(url);
    expect([answer.statusCode, answer.json<{ code: string }>().code]).toEqual([status, code]);
  });

  it('to a file that was deleted, or on a server without reports, finds nothing', async () => {
    const { get, storage } = await served('2030-01-02T00:00:00Z');
    await storage.delete(NAME);
    for (const one of [
      await get(link()),
      await (await served('2030-01-02', { none: true })).get(link()),
      await (await served('2030-01-02', { secret: null })).get(link()),
    ]) {
      expect([one.statusCode, one.json<{ code: string }>().code]).toEqual([404, 'NOT_FOUND']);
    }
  });
});

it('a report is deleted on the day after its last one; other files stay', async () => {
  const never = new AbortController().signal;
  const before = await served('2030-01-08T23:59:59Z');
  expect(await before.reports.deleteOutdated(never)).toBe(0);
  const { storage, folder, reports } = await served('2030-01-09T00:00:00Z');
  await storage.put(SHA256, CONTENT.length, chunks());
  await storage.put(reportName('acme', new Date('2030-01-09'), SHA256), CONTENT.length, chunks());
  expect(await reports.deleteOutdated(never)).toBe(1);
  expect((await readdir(folder)).sort()).toEqual([SHA256, `acme.2030-01-09.${SHA256}`].sort());
});
