import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, describe, expect, it } from 'vitest';
import { PROBLEMS } from '../../protocol/problem.ts';
import { silentLog } from '../../runtime/log.ts';
import type { Db } from '../../store/connection/db.ts';
import type { Enqueuer } from '../../enqueue/enqueuer.ts';
import { DOCS_PAGES } from './contents.ts';
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
  requestBody?: { content: Record<string, { schema: object }> };
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
    expect(served).toHaveLength(80);
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

  it('gives an example of a body that its own schema takes', () => {
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
    for (const name of ['', ...DOCS_PAGES]) {
      const { statusCode, body, headers } = await get(`/docs/${name}`);
      expect([name, statusCode]).toEqual([name, 200]);
      expect(headers['content-security-policy']).toContain(
        "default-src 'none'; style-src 'sha256-",
      );
      expect(body).not.toMatch(/<(script|link|iframe|object|embed)|<[^>]+\son\w+=/i);
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

  it('finds headings by their words, and shows what was asked for as text', async () => {
    const found = await get('/docs/search?q=RUNNING%20ends');
    expect(found.body).toContain('<a href="cancelling#how-a-running-job-ends">');
    const hostile = await get('/docs/search?q=%3Cimg%20src%3Dx%3E%22');
    expect(hostile.body).toContain('<q>&lt;img src=x&gt;&quot;</q>');
    expect(hostile.body).toContain('0 headings');
    expect((await get('/docs/search')).statusCode).toBe(200);
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
    expect(policy).toMatch(/^default-src 'none'; script-src 'self' 'sha256-\S+'; /);
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
