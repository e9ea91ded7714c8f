import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { Refusal } from '../../protocol/refusal.ts';
import type { Caller } from './caller.ts';

/**
 * A server on loopback is open to every program of its user, and so to every web page in that
 * user's browser, unless it looks twice. Two doors are closed here: a foreign name that points to
 * this address (DNS rebinding), and a write that another site makes the browser send.
 */

const HOST_HEADER = /^(\[[0-9a-f:.]+\]|[^:[\]]+)(?::\d{1,5})?$/i;
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

const EVERY_ADDRESS = ['0.0.0.0', '::'];

/** The names by which this server may be called; the port does not matter. */
export function allowedHosts(configured: string, named: readonly string[]): ReadonlySet<string> {
  const own = [configured, ...named].map((name) => (name.includes(':') ? `[${name}]` : name));
  // No name server can point an address somewhere else, so any of this machine will do.
  const addresses = EVERY_ADDRESS.includes(configured) ? [ANY_ADDRESS] : [];
  return new Set(['localhost', '127.0.0.1', '[::1]', ...own, ...addresses].map(lowered));
}

const ANY_ADDRESS = 'any address';
const lowered = (name: string) => name.toLowerCase();

export function guardHost(request: FastifyRequest, allowed: ReadonlySet<string>): void {
  const name = HOST_HEADER.exec(request.headers.host ?? '')?.[1]?.toLowerCase();
  if (name !== undefined && (allowed.has(name) || allowed.has('*'))) return;
  if (allowed.has(ANY_ADDRESS) && isIP((name ?? '').replace(/^\[(.*)\]$/, '$1')) !== 0) return;
  throw new Refusal(
    'MISDIRECTED_REQUEST',
    'the Host header names another server; call this one by localhost or its configured host, or ' +
      'add the name to LONGSHORE_ALLOWED_HOSTS',
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

/** A browser sends its cookie by itself, so a write by it must say that our own page asked for it. */
export function guardSession(request: FastifyRequest, { kind }: Caller): void {
  if (kind !== 'session' || SAFE_METHODS.has(request.method)) return;
  const { origin, 'sec-fetch-site': site } = request.headers;
  if (origin !== undefined || site === 'same-origin') return;
  throw new Refusal('FORBIDDEN', 'a write by session must carry Origin or Sec-Fetch-Site');
}

/** `Origin: null`, as sandboxed pages send it, is no URL and so never our own. */
function isOwn(origin: string, host: string): boolean {
  const from = URL.parse(origin);
  if (!from || from.host === '') return false;
  return URL.parse(`${from.protocol}//${host}`)?.host === from.host;
}
