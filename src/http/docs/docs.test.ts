import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, describe, expect, it } from 'vitest';
import { PROBLEMS } from '../../protocol/problem.ts';
import { silentLog } from '../../runtime/log.ts';
import type { Db } from '../../store/connection/db.ts';
import type { Enqueuer } from '../../enqueue/enqueuer.ts';
import { DOCS_PAGES } from './contents.ts';
import { loadHighlight } from './highlight.ts';
import { renderMarkdown } from './markdown.ts';
import { markup } from './markup.ts';
import { buildServer } from '../server.ts';

/** The part of the OpenAPI document that the tests read. */
interface ApiDocument {
  openapi: string;
  info: object;
  paths: Record<string, Record<string, Operation>>;
  components: object;
}

interface Operation {
  operationId: string;
  summary: string;
  parameters?: readonly { name: string; in: string; required?: boolean }[];
  requestBody?: {
    content: Record<string, { schema: object; examples?: Record<string, { value: unknown }> }>;
  };
  responses: Record<string, { description: string; content?: object }>;
}

/** A database without keys, so that the door is open on loopback. */
const NO_KEYS = { run: async () => [] } as unknown as Db;

const app = buildServer({
  db: NO_KEYS,
  enqueuer: {} as Enqueuer,
  log: silentLog,
  host: '127.0.0.1',
  port: 0,
  version: '1.2.3',
});
const get = async (url: string) => await app.inject({ url, headers: { host: '127.0.0.1:4400' } });
const document = (await get('/openapi.json')).json<ApiDocument>();
const calls = Object.entries(document.paths).flatMap(([path, operations]) =>
  Object.entries(operations).map(([method, operation]) => ({
    method: method.toUpperCase(),
    path,
    operation,
  })),
);
const highlight = loadHighlight();
afterAll(async () => await app.close());

describe('the OpenAPI document', () => {
  it('is a 3.1 document with a version', () => {
    expect(document.openapi).toMatch(/^3\.1\.\d+$/);
    expect(document.info).toMatchObject({ title: 'Longshore', version: '1.2.3' });
  });

  it('lists exactly the routes that are served', () => {
    const served = [...app.routeTable].flatMap(([path, methods]) =>
      [...methods]
        .filter((method) => method !== 'HEAD')
        .map((method) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`),
    );
    expect(calls.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(served.sort());
    expect(served).toHaveLength(153);
  });

  it('describes every operation well enough to be used', () => {
    const ids = calls.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { path, operation } of calls) {
      const declared = (operation.parameters ?? []).filter((one) => one.in === 'path');
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      expect(declared.map(({ name }) => name)).toEqual(named);
      expect(declared.every(({ required }) => required)).toBe(true);
      expect(operation.summary).not.toBe('');
      expect(Object.keys(operation.responses).some((status) => /^[23]/.test(status))).toBe(true);
      for (const [status, answer] of Object.entries(operation.responses)) {
        expect(status).toMatch(/^[1-5]\d\d$/);
        expect(answer.description).not.toBe('');
      }
    }
  });

  it('names every code of a refusal, except those before a route is found', () => {
    const text = JSON.stringify(document);
    const rare = ['BAD_REQUEST', 'REQUEST_TIMEOUT', 'HEADERS_TOO_LARGE', 'METHOD_NOT_ALLOWED'];
    const missing = Object.keys(PROBLEMS).filter((code) => !text.includes(`${code}: `));
    expect(missing.sort()).toEqual(rare.sort());
  });

  it('has only JSON Schema 2020-12 in it, and only references that lead somewhere', () => {
    const ajv = new Ajv2020({ strict: true, strictTypes: false, validateFormats: false });
    ajv.addSchema({ $id: 'doc', components: document.components }, undefined, undefined, false);
    ajv.addKeyword('components');
    const text = JSON.stringify(calls.map(({ operation }) => operation));
    const schemas = text.replaceAll('"#/components/', '"doc#/components/');
    // Most are the problem of a refusal, which is the same everywhere.
    const distinct = new Set<string>();
    JSON.parse(schemas, (key, value: unknown) => {
      if (key === 'schema') distinct.add(JSON.stringify(value));
      return value;
    });
    expect(distinct.size).toBeGreaterThan(calls.length);
    for (const schema of distinct) ajv.compile(JSON.parse(schema) as object);
  });

  it('gives examples of bodies that their own schemas take: what try-it sends first', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema({ $id: 'doc', components: document.components });
    const bodies = calls.flatMap(({ method, path, operation }) => {
      const json = operation.requestBody?.content['application/json'];
      const text = JSON.stringify(json?.schema ?? {});
      const schema = JSON.parse(text.replaceAll('"#/components/', '"doc#/components/')) as object;
      const examples = Object.values(json?.examples ?? {});
      return examples.map(({ value }) => ({ call: `${method} ${path}`, schema, value }));
    });
    expect(bodies.length).toBeGreaterThan(12);
    const wrong = bodies.filter(({ schema, value }) => !ajv.compile(schema)(value));
    expect(wrong.map(({ call }) => call)).toEqual([]);
  });

  it('describes a body that takes what the API takes', () => {
    const schema = document.paths['/v1/jobs']?.post?.requestBody?.content['application/json'];
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    const validate = ajv.compile(schema?.schema ?? false);
    expect(validate({ definitionKey: 'a', tags: ['x'], retry: 'webhook' })).toBe(true);
    expect(validate({ definitionKey: 'a', tag: ['x'] })).toBe(false);
    expect(validate({ definitionKey: 'a', priority: 1_000_001 })).toBe(false);
  });
});

describe('the docs', () => {
  it('has a page for every entry, in one frame that leads to all others', async () => {
    for (const name of ['', ...DOCS_PAGES.map((path) => basename(path))]) {
      const { statusCode, body, headers } = await get(`/docs/${name}`);
      expect([name, statusCode]).toEqual([name, 200]);
      const policy = String(headers['content-security-policy']);
      expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-\S+'; script-src 'sha256-/);
      expect(policy).not.toMatch(/unsafe|https?:|\*/);
      expect(body).not.toMatch(/<(iframe|object|embed)|<link rel="(?!icon)|<[^>]+\son\w+=/i);
      // One script, which the policy knows.
      const scripts = [...body.matchAll(/<script[^>]*>([^]*?)<\/script>/g)];
      const hashes = scripts.map(([, text = '']) => createHash('sha256').update(text));
      expect(hashes.map((hash) => policy.includes(hash.digest('base64')))).toEqual([true]);
      // Everything is relative, so that it works below any path.
      expect(body).not.toMatch(/(href|src|action)="\//);
      expect(body).toContain('<a href="quick-start"');
      if (name !== '') expect(body).toMatch(/aria-current="page"/);
    }
  });

  it('is the same without the slash, as seen from one level above', async () => {
    const [one, other] = [await get('/docs'), await get('/docs/')];
    expect(one.body.replace('<base href="docs/">', '<base href="./">')).toBe(other.body);
  });

  it('finds the text of all pages, with the place and an excerpt', async () => {
    // Words of a sentence, of a code block and of a table.
    const prose = await get('/docs/search?q=repeat%20a%20request%20lost%20response');
    expect(prose.body).toContain('<a href="enqueueing#repeated-requests-idempotencykey">');
    expect(prose.body).toMatch(/<mark>lost<\/mark> <mark>response<\/mark>/);
    const code = await get('/docs/search?q=upsertJobScheduler');
    expect(code.body).toContain('<a href="from-bullmq#');
    const prefix = await get('/docs/search?q=LONGSHORE_UNREG');
    expect(prefix.body).toContain('<a href="configuration#');
    const heading = await get('/docs/search?q=RUNNING%20ends');
    expect(heading.body).toContain('<a href="cancelling#how-a-running-job-ends">');
  });

  it.each([
    ['retry', 'failures#retries'],
    ['timeout', 'cancelling#timeouts'],
    ['cron', 'schedules#cron-expressions'],
    ['rate limit', 'limits#'],
    ['idempotency', 'enqueueing#repeated-requests-idempotencykey'],
    ['lost response', 'enqueueing#repeated-requests-idempotencykey'],
    ['cancel', 'cancelling#cancelling-and-timeouts'],
    ['priority', 'limits#order-of-jobs'],
    ['unique', 'enqueueing#unique-jobs-unique'],
    ['webhook', 'webhooks#'],
    ['batch', 'batches#'],
    ['backoff', 'failures#retries'],
    ['dead letter', 'failures#dead-letters'],
    ['exactly once', 'concepts#guarantees'],
    ['retry a failed job', 'failures#retry-by-hand'],
    ['how do I retry a failed job', 'failures#retry-by-hand'],
    ['graceful shutdown', 'cancelling#deploys'],
    ['concurrency limit per user', 'limits#limits-rates-and-pauses'],
    ['retry backoff', 'failures#retries'],
    ['prioirty', 'limits#order-of-jobs'],
    ['docker xyzzyxyzzy', 'deploying#docker'],
  ])('finds for "%s" first what explains it', async (question, first) => {
    const { body } = await get(`/docs/search?q=${encodeURIComponent(question)}`);
    const [, href] =
      /<ol>.*?<a href="([^"]+)"/s.exec(body.slice(body.indexOf('id="results"'))) ?? [];
    expect(href).toMatch(new RegExp(`^${first}`));
  });

  it('shows what was asked for as text', async () => {
    const hostile = await get('/docs/search?q=%3Cimg%20src%3Dx%3E%22');
    expect(hostile.body).toContain('<q>&lt;img src=x&gt;&quot;</q>');
    const signs = await get(`/docs/search?q=${encodeURIComponent('key keys= $ ^ ( [ \\ + =>')}`);
    expect(signs.statusCode).toBe(200);
    const nothing = await get('/docs/search?q=xyzzyxyzzy');
    expect(nothing.body).toContain('Nothing found');
    expect((await get('/docs/search')).statusCode).toBe(200);
  });

  it('has the code of two systems as a pair, and no other code', () => {
    const text =
      'Old:\n\n```ts\na\n```\n\nLongshore, a *file*:\n\n```ts\nb\n```\n\nBoth:\n\n```\nc\n```\n';
    const { body } = renderMarkdown('x', text, highlight);
    expect(body.text.match(/<div class="pair">/g)).toHaveLength(1);
    expect(body.text).toMatch(
      /<div class="pair"><div><p>Old:<\/p>[^]*<code>a<[^]*<div><p>Longshore[^]*<code>b<[^]*<\/div><\/div>\s*<p>Both/,
    );
  });

  it('marks the parts of code, and leaves what looks like HTML text', async () => {
    const { body } = await get('/docs/enqueueing');
    expect(body).toContain('<span class="hljs-keyword">import</span>');
    const page = renderMarkdown('x', '```ts\nconst a = "<b>";\n```\n```\n<i>\n```', highlight);
    expect(page.body.text).toContain('&quot;&lt;b&gt;&quot;');
    expect(page.body.text).toContain('<code>&lt;i&gt;</code>');
  });

  it('has its pictures, and nothing outside of it', async () => {
    const picture = await get('/docs/images/overview.png');
    expect(picture.headers['content-type']).toBe('image/png');
    for (const path of ['nope', '..%2fpackage.json', 'images/..%2fcli.md', 'cli.md']) {
      expect([path, (await get(`/docs/${path}`)).statusCode]).toEqual([path, 404]);
    }
  });
});

describe('the API reference', async () => {
  const { body, headers } = await get('/docs/api');
  const script = await get('/docs/api/scalar.js');

  it('names its script, the document and the server by relative URLs, and no other host', () => {
    expect(body).toContain('src="api/scalar.js"');
    expect(body).toContain('"url": "../openapi.json"');
    expect(body).toContain('"url": new URL(\'../\', location).href');
    expect(body).not.toMatch(/https?:|(href|src)="\//);
  });

  it('brings its script, which a browser keeps', async () => {
    expect(script.headers['content-type']).toBe('text/javascript; charset=utf-8');
    expect(script.body).toContain('createApiReference');
    const again = await app.inject({
      url: '/docs/api/scalar.js',
      headers: { host: '127.0.0.1:4400', 'if-none-match': String(script.headers.etag) },
    });
    expect([again.statusCode, again.body]).toEqual([304, '']);
  });

  it('runs only its own scripts and calls only this server', () => {
    const policy = headers['content-security-policy'];
    expect(policy).toMatch(/^default-src 'none'; script-src 'self' 'sha256-\S+' 'sha256-\S+'; /);
    expect(policy).toContain("connect-src 'self'");
    expect(policy).not.toMatch(/script-src [^;]*unsafe|https?:|\*/);
  });

  it('offers a stream beside the page where an operation can be followed', () => {
    const followed = calls.filter(({ operation }) =>
      Object.keys(operation.responses['200']?.content ?? {}).includes('text/event-stream'),
    );
    expect(followed.map(({ path }) => path.split('/').at(-1))).toEqual([
      'events',
      'logs',
      'stream',
      'logs',
      'stream',
    ]);
  });
});

describe('markup', () => {
  it('escapes what it did not make', () => {
    const inner = markup`<b>${'<&">'}</b>`;
    expect(markup`<p>${[inner, 'x<y', 5]}</p>`.text).toBe(
      '<p><b>&lt;&amp;&quot;&gt;</b>x&lt;y5</p>',
    );
  });
});
