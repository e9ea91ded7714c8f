import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll } from 'vitest';
import type { Scope } from '../../src/core/access/scope.ts';
import type { HttpDeps } from '../../src/http/deps.ts';
import { buildServer } from '../../src/http/server.ts';
import { silentLog } from '../../src/runtime/log.ts';
import { createKey } from '../../src/store/access/keys.ts';
import { createTenant } from '../../src/store/access/tenants.ts';
import type { TestDatabase } from './servers/database.ts';

/** Of a server without a socket: what the tests use. */
export interface InjectServer {
  inject(options: InjectOptions): Promise<LightMyRequestResponse>;
}

const BY = { name: 'test', address: null };

/** A server without a socket, for all tests of this file or `describe`. */
export function sharedServer(database: TestDatabase, more?: Partial<HttpDeps>): InjectServer {
  let server: FastifyInstance;
  beforeAll(() => {
    server = serverOn(database, more);
  });
  afterAll(async () => await server.close());
  return { inject: async (options) => await server.inject(options) };
}

/** A server without a socket; the caller closes it. */
export function serverOn(
  { db, enqueuer }: TestDatabase,
  more: Partial<HttpDeps> = {},
): FastifyInstance {
  const bare = { db, enqueuer, log: silentLog, host: '127.0.0.1', port: 0, version: '0' };
  // Tenants may deploy, so that their keys reach these routes.
  return buildServer({ ...bare, tenantDeploys: true, ...more });
}

export async function newTenant({ db }: TestDatabase, name: string): Promise<string> {
  await createTenant(db, BY, name);
  return name;
}

export async function newKey(
  { db }: TestDatabase,
  tenant: string,
  ...scopes: Scope[]
): Promise<{ keyId: string; key: string }> {
  return await createKey(db, BY, { tenant, name: scopes.join(), scopes, expiresAt: null });
}

export interface Answer {
  status: number;
  code: string | null;
  headers: Record<string, unknown>;
  /** As it came, and as JSON where it is. */
  text: string;
  body: Record<string, unknown>;
}

/** One call, with a key or without. */
export async function callAs(
  app: InjectServer,
  key: string | null,
  method: string,
  url: string,
  more: { payload?: unknown; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const { payload, headers = {} } = more;
  const answer = await app.inject({
    method,
    url,
    headers: { host: 'localhost', ...(key && { authorization: `Bearer ${key}` }), ...headers },
    ...(payload !== undefined && { payload: payload as object }),
  });
  const isJson = /[/+]json/.test(String(answer.headers['content-type'])) && answer.body !== '';
  const body = isJson ? answer.json<Record<string, unknown>>() : {};
  const code = typeof body['code'] === 'string' ? body['code'] : null;
  return { status: answer.statusCode, code, headers: answer.headers, text: answer.body, body };
}
