import { learnServerTime } from '../runtime/clock.ts';
import { apiUrl } from '../runtime/urls.ts';
import { connection } from './connection.ts';
import { ProblemError, problemOf } from './problem-error.ts';
import { session } from './session.ts';
import { tenantFor } from './tenant-routes.ts';
import type { OpenApi } from '../words/tenant-routes.ts';

export type Query = Record<string, string | number | readonly string[] | undefined>;

/** One call of the public API, the dashboard's only access to the server. */
export async function call<T>(
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  path: string,
  { query = {}, body, signal }: { query?: Query; body?: unknown; signal?: AbortSignal } = {},
): Promise<T> {
  const made = session.current();
  const openApi = async () => await call<OpenApi>('GET', '/openapi.json');
  const own = await tenantFor(method, path, openApi);
  const response = await send(apiUrl(path) + queryText({ ...query, ...own }), {
    method,
    ...(signal && { signal }),
    ...(body !== undefined && {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  });
  learnServerTime(response.headers.get('date'));
  const text = await response.text();
  const answer = parsed(text);
  if (response.status === 401) session.refused(made);
  if (!response.ok) throw problemOf(response.status, answer);
  return answer as T;
}

interface Reading {
  signal: AbortSignal;
}

/** A `queryFn` that reads one path. */
export function read<T>(path: string, query: Query = {}) {
  return async ({ signal }: Reading) => await call<T>('GET', path, { query, signal });
}

/** A `queryFn` that reads the list `name` of an answer. */
export function readList<T>(name: string, path: string, query: Query = {}) {
  return async ({ signal }: Reading) =>
    (await call<Record<string, T[]>>('GET', path, { query, signal }))[name] as T[];
}

async function send(url: string, init: RequestInit): Promise<Response> {
  try {
    const response = await fetch(url, init);
    connection.report(response.status === 503 ? 'lost' : 'live');
    return response;
  } catch (error) {
    if (init.signal?.aborted) throw error;
    connection.report('lost');
    throw new ProblemError(0, 'UNREACHABLE', 'the server cannot be reached');
  }
}

export function queryText(query: Query): string {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of [value ?? []].flat()) words.append(name, String(one));
  }
  const text = words.toString();
  return text === '' ? '' : `?${text}`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}
