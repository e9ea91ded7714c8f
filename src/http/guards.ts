import type { FastifyRequest } from 'fastify';
import { Refusal } from '../protocol/refusal.ts';

/**
 * A server on loopback is open to every program of its user, and so to every web page in that
 * user's browser, unless it looks twice. Two doors are closed here: a foreign name that points to
 * this address (DNS rebinding), and a write that another site makes the browser send.
 */

const HOST_HEADER = /^(\[[0-9a-f:.]+\]|[^:[\]]+)(?::\d{1,5})?$/i;
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** The names by which this server may be called; the port does not matter. */
export function allowedHosts(configured: string): ReadonlySet<string> {
  const own = configured.includes(':') ? `[${configured}]` : configured;
  return new Set(['localhost', '127.0.0.1', '[::1]', own.toLowerCase()]);
}

export function guardHost(request: FastifyRequest, allowed: ReadonlySet<string>): void {
  const name = HOST_HEADER.exec(request.headers.host ?? '')?.[1]?.toLowerCase();
  if (name !== undefined && allowed.has(name)) return;
  throw new Refusal(
    'MISDIRECTED_REQUEST',
    'the Host header names another server; call this one by localhost or its configured host',
  );
}

export function guardOrigin(request: FastifyRequest): void {
  if (SAFE_METHODS.has(request.method)) return;
  const { origin, host } = request.headers;
  const site = request.headers['sec-fetch-site'];
  const foreign = site === 'cross-site' || site === 'same-site';
  if (!foreign && (origin === undefined || isOwn(origin, host ?? ''))) return;
  throw new Refusal('FORBIDDEN', 'another web site may not write here');
}

/** `Origin: null`, as sandboxed pages send it, is no URL and so never our own. */
function isOwn(origin: string, host: string): boolean {
  const from = URL.parse(origin);
  if (!from || from.host === '') return false;
  return URL.parse(`${from.protocol}//${host}`)?.host === from.host;
}
