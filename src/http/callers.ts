import type { FastifyReply, FastifyRequest } from 'fastify';
import { parseApiKey } from '../core/api-key.ts';
import { isLoopback } from '../core/bind.ts';
import { HOST_TENANT, SCOPE_NAMES } from '../core/scope.ts';
import { Refusal } from '../protocol/refusal.ts';
import type { Clock } from '../runtime/clock.ts';
import { anyKey, type Credential, findCredential } from '../store/credentials.ts';
import type { Queryable } from '../store/db.ts';
import { hashOf } from '../store/keys.ts';
import { findSession } from '../store/sessions.ts';
import { tenantExists } from '../store/tenants.ts';
import type { Caller } from './caller.ts';
import { FreshAnswers } from './fresh-answers.ts';
import type { RateLimits } from './rate-limits.ts';
import { readSessionCookie } from './session-cookie.ts';

/**
 * What is known of a key may be this old. So a key that was revoked, anywhere, is refused everywhere
 * half a second later, and a busy key costs two small questions a second.
 */
const FRESH_MS = 500;

type Known = Credential & { expiresAt?: string };

/** Tells who makes a request, from what it carries. */
export class Callers {
  readonly #db: Queryable;
  readonly #loopback: boolean;
  readonly #limits: RateLimits;
  readonly #known: FreshAnswers<Known | null>;
  readonly #facts: FreshAnswers<boolean>;

  constructor(db: Queryable, clock: Clock, host: string, limits: RateLimits) {
    this.#limits = limits;
    this.#db = db;
    this.#loopback = isLoopback(host);
    this.#known = new FreshAnswers(clock, FRESH_MS);
    this.#facts = new FreshAnswers(clock, FRESH_MS);
  }

  /**
   * Throws the same refusal whatever is wrong: unknown, mistyped, revoked, expired. Without a reply it
   * is the same request asked about again, which is not counted.
   */
  async identify(request: FastifyRequest, reply: FastifyReply | null): Promise<Caller> {
    const { authorization, cookie } = request.headers;
    if (authorization !== undefined) {
      const key = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
      return callerAs('key', (await this.#ofKey(key ?? '', request, reply)) ?? unauthorized());
    }
    const sessionId = readSessionCookie(cookie);
    const found = sessionId === null ? null : await this.#ofSession(sessionId, request, reply);
    if (found) return callerAs('session', found);
    return (await this.isOpen()) ? OPEN : unauthorized();
  }

  /** What a key stands for, shown for a login. */
  async credential(key: string, request: FastifyRequest, reply: FastifyReply): Promise<Credential> {
    return (await this.#ofKey(key, request, reply)) ?? unauthorized();
  }

  /** On loopback, as long as there never was a key. */
  async isOpen(): Promise<boolean> {
    if (!this.#loopback) return false;
    return !(await this.#facts.get('any key', async () => anyKey(this.#db)));
  }

  async hasTenant(tenant: string): Promise<boolean> {
    const exists = async () => tenantExists(this.#db, tenant);
    return await this.#facts.get(`tenant ${tenant}`, exists);
  }

  /** Ends what is remembered of a session here; elsewhere that takes half a second. */
  forgetSession(sessionId: string): void {
    this.#known.forget(questionOf('session', sessionId));
  }

  async #ofKey(key: string, request: FastifyRequest, reply: FastifyReply | null) {
    const parts = parseApiKey(key);
    if (!parts) return null;
    const question = questionOf('key', key);
    return await this.#look(question, request, reply, async () => findCredential(this.#db, parts));
  }

  async #ofSession(id: string, request: FastifyRequest, reply: FastifyReply | null) {
    const question = questionOf('session', id);
    return await this.#look(question, request, reply, async () => findSession(this.#db, id));
  }

  /** Who shows one wrong secret after another may ask about no further one, only go on with known ones. */
  async #look(
    question: string,
    request: FastifyRequest,
    reply: FastifyReply | null,
    ask: () => Promise<Known | null>,
  ): Promise<Known | null> {
    if (reply) this.#limits.ofKey(question, reply);
    const isNew = !this.#known.has(question);
    if (isNew) this.#limits.beforeUnknownKey(request);
    const found = await this.#known.get(question, ask);
    if (isNew && !found) this.#limits.afterWrongKey(request);
    return found;
  }
}

/** Secrets are not kept in memory for longer than a request takes. */
function questionOf(kind: string, secret: string): string {
  return `${kind} ${hashOf(secret).toString('base64')}`;
}

function callerAs(kind: 'key' | 'session', known: Known): Caller {
  const { keyId, tenant, scopes, expiresAt = null } = known;
  return { kind, keyId, home: tenant, tenant, scopes, expiresAt };
}

const OPEN: Caller = {
  kind: 'open',
  keyId: null,
  home: HOST_TENANT,
  tenant: HOST_TENANT,
  scopes: SCOPE_NAMES,
  expiresAt: null,
};

function unauthorized(): never {
  const detail = 'send a valid API key as "Authorization: Bearer lsk_…"';
  throw new Refusal('UNAUTHORIZED', detail, { headers: { 'www-authenticate': 'Bearer' } });
}
