import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { silentLog } from '../runtime/log.ts';
import type { Db } from '../store/connection/db.ts';
import type { Enqueuer } from '../enqueue/enqueuer.ts';
import { buildServer, type HttpDeps } from './server.ts';

/** How files get to the browser. What they do there is tested in a real one, in test/browser. */
const folder = await mkdtemp(join(tmpdir(), 'longshore-web-'));
await mkdir(join(folder, 'assets'));
await writeFile(join(folder, 'index.html'), '<base href="./" /><title>x</title><p>dashboard</p>');
await writeFile(join(folder, 'favicon.svg'), '<svg/>');
await writeFile(join(folder, 'assets', 'main-h4sh.js'), 'go()');

function serverWith(dashboard?: HttpDeps['dashboard'], environment?: HttpDeps['environment']) {
  const app = buildServer({
    db: {} as Db,
    enqueuer: {} as Enqueuer,
    log: silentLog,
    host: '127.0.0.1',
    port: 0,
    version: '1.2.3',
    ...(dashboard && { dashboard }),
    ...(environment && { environment }),
  });
  afterAll(async () => await app.close());
  return async (url: string, headers: Record<string, string> = {}) =>
    await app.inject({ url, headers: { host: 'localhost', ...headers } });
}

afterAll(async () => await rm(folder, { recursive: true }));
const get = serverWith(async () => folder);

it('the page names its environment, as text', async () => {
  expect((await get('/ui/')).body).not.toContain('<meta');
  const named = serverWith(async () => folder, { name: '"><script>prod', color: 'red' });
  expect((await named('/ui/')).body).toContain(
    '<meta name="longshore-environment" content="&#34;&#62;&#60;script&#62;prod" data-color="red" /><title>',
  );
});

describe('the dashboard', () => {
  it('is where / leads, by a relative way that holds behind a proxy too', async () => {
    for (const url of ['/', '/ui']) {
      const answer = await get(url);
      expect([answer.statusCode, answer.headers.location]).toEqual([302, 'ui/']);
    }
  });

  it.each([
    ['/ui/', './'],
    ['/ui/jobs', './'],
    ['/ui/jobs?status=failed&definitionKey=a/b', './'],
    ['/ui/jobs/1', '../'],
    ['/ui/definitions/a%2Fb', '../'],
    ['/ui/a/b/c', '../../'],
    ['/ui/index.html', './'],
  ])('answers %s with the page, whose root is %s from there', async (url, base) => {
    const answer = await get(url);
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(answer.headers['cache-control']).toBe('no-cache');
    expect(answer.body).toBe(`<base href="${base}" /><title>x</title><p>dashboard</p>`);
  });

  it('lets its page run nothing but its own files', async () => {
    const policy = (await get('/ui/')).headers['content-security-policy'];
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
  });

  it('sends what has its hash in its name once and for all', async () => {
    const answer = await get('/ui/assets/main-h4sh.js');
    expect(answer.headers['content-type']).toBe('application/javascript; charset=utf-8');
    expect(answer.headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect(answer.headers['x-content-type-options']).toBe('nosniff');
    expect(answer.body).toBe('go()');
    expect((await get('/ui/favicon.svg')).headers['cache-control']).toBe('no-cache');
  });

  it('sends nothing that the browser has already', async () => {
    const { etag = '' } = (await get('/ui/jobs/1')).headers;
    const again = await get('/ui/jobs/1', { 'if-none-match': String(etag) });
    expect([again.statusCode, again.body]).toEqual([304, '']);
    const elsewhere = await get('/ui/jobs', { 'if-none-match': String(etag) });
    expect(elsewhere.statusCode).toBe(200);
  });

  it.each([
    ['range', 'bytes=99-', 200],
    ['if-match', '"other"', 400],
    ['if-unmodified-since', 'Thu, 01 Jan 1970 00:00:00 GMT', 400],
  ])('answers a file with %s: %s by %i', async (header, value, status) => {
    const { statusCode } = await get('/ui/assets/main-h4sh.js', { [header]: value });
    expect(statusCode).toBe(status);
  });

  it.each([
    '/ui/assets/gone.js',
    '/ui/assets/',
    '/ui/assets/..%5cindex.html',
    '/ui/assets/../../package.json',
    '/ui/assets/..%2f..%2fpackage.json',
    '/ui/assets/%2e%2e%2findex.html',
  ])('has no file at %s', async (url) => {
    const answer = await get(url);
    expect([answer.statusCode, answer.json<{ code: string }>().code]).toEqual([404, 'NOT_FOUND']);
  });

  it('says why there is none, and tries again for the next visitor', async () => {
    let tries = 0;
    const ask = serverWith(async () => {
      tries += 1;
      if (tries === 1) throw new Error('the build broke');
      return folder;
    });
    const first = await ask('/ui/');
    expect([first.statusCode, first.json<{ detail: string }>().detail]).toEqual([
      503,
      'the build broke',
    ]);
    expect((await ask('/ui/')).statusCode).toBe(200);
    await ask('/ui/jobs');
    expect(tries).toBe(2);
    expect((await serverWith()('/ui/')).statusCode).toBe(503);
  });
});
