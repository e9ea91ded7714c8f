import type { FastifyRequest } from 'fastify';
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
  readonly #known: FreshAnswers<Known | null>;
  readonly #facts: FreshAnswers<boolean>;

  constructor(db: Queryable, clock: Clock, host: string) {
    this.#db = db;
    this.#loopback = isLoopback(host);
    this.#known = new FreshAnswers(clock, FRESH_MS);
    this.#facts = new FreshAnswers(clock, FRESH_MS);
  }

  /** Throws the same refusal whatever is wrong: unknown, mistyped, revoked, expired. */
  async identify({ headers }: FastifyRequest): Promise<Caller> {
    if (headers.authorization !== undefined) {
      const key = /^Bearer +(\S+)$/i.exec(headers.authorization)?.[1];
      return callerAs('key', (await this.#ofKey(key ?? '')) ?? unauthorized());
    }
    const sessionId = readSessionCookie(headers.cookie);
    if (sessionId !== null) {
      const found = await this.#known.get(questionOf('session', sessionId), async () =>
        findSession(this.#db, sessionId),
      );
      if (found) return callerAs('session', found);
    }
    return (await this.isOpen()) ? OPEN : unauthorized();
  }

  /** The key as it is now in the database, for a login. */
  async credential(key: string): Promise<Credential> {
    return (await this.#ofKey(key)) ?? unauthorized();
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

  async #ofKey(key: string): Promise<Credential | null> {
    const parts = parseApiKey(key);
    if (!parts) return null;
    return await this.#known.get(questionOf('key', key), async () =>
      findCredential(this.#db, parts),
    );
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
