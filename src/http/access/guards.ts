import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { Refusal } from '../../protocol/refusal.ts';
import type { Caller } from './caller.ts';

/**
 * A loopback server is open to all programs of its user, and so to every web page in the user's
 * browser. Two attacks are blocked here: DNS rebinding (a foreign name that points to this address)
 * and cross-site writes.
 */

const HOST_HEADER = /^(\[[0-9a-f:.]+\]|[^:[\]]+)(?::\d{1,5})?$/i;
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

const EVERY_ADDRESS = ['0.0.0.0', '::'];

/** Accepted Host names; the port is ignored. */
export function allowedHosts(configured: string, named: readonly string[]): ReadonlySet<string> {
  const own = [configured, ...named].map((name) => (name.includes(':') ? `[${name}]` : name));
  // DNS cannot redirect an IP address, so any address of this machine is accepted.
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
    'the Host header names another server; use localhost or the configured host, or ' +
      'add the name to LONGSHORE_ALLOWED_HOSTS',
  );
}

export function guardOrigin(request: FastifyRequest): void {
  if (SAFE_METHODS.has(request.method)) return;
  const { origin, host } = request.headers;
  const site = request.headers['sec-fetch-site'];
  const foreign = site === 'cross-site' || site === 'same-site';
  if (!foreign && (origin === undefined || isOwn(origin, host ?? ''))) return;
  throw new Refusal('FORBIDDEN', 'cross-site writes are not allowed');
}

/** Browsers send cookies automatically, so a write by session must come from our own page. */
export function guardSession(request: FastifyRequest, { kind }: Caller): void {
  if (kind !== 'session' || SAFE_METHODS.has(request.method)) return;
  const { origin, 'sec-fetch-site': site } = request.headers;
  if (origin !== undefined || site === 'same-origin') return;
  throw new Refusal('FORBIDDEN', 'a write by session needs an Origin or Sec-Fetch-Site header');
}

/** `Origin: null` of sandboxed pages is no URL and so never our own. */
function isOwn(origin: string, host: string): boolean {
  const from = URL.parse(origin);
  if (!from || from.host === '') return false;
  return URL.parse(`${from.protocol}//${host}`)?.host === from.host;
}
