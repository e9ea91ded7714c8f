import type { FastifyReply, FastifyRequest } from 'fastify';
import { parseApiKey } from '../../core/access/api-key.ts';
import { isLoopback } from '../../core/access/bind.ts';
import { maybeRunner, type UidRange } from '../../core/access/machine-users.ts';
import { HOST_TENANT, SCOPE_NAMES } from '../../core/access/scope.ts';
import { Refusal } from '../../protocol/refusal.ts';
import type { Clock } from '../../runtime/clock.ts';
import { peerUsers } from '../../runtime/processes/peer-users.ts';
import {
  anyKey,
  type Credential,
  findCredential,
  keyMark,
  liveKeyMarks,
} from '../../store/access/credentials.ts';
import type { Queryable } from '../../store/connection/db.ts';
import { hashOf } from '../../store/access/keys.ts';
import { findSession, liveSessionMarks, sessionMark } from '../../store/access/sessions.ts';
import { tenantExists } from '../../store/access/tenants.ts';
import type { Caller } from './caller.ts';
import { FreshAnswers } from './fresh-answers.ts';
import type { RateLimits } from '../edge/rate-limits.ts';
import { readSessionCookies } from './session-cookie.ts';

/**
 * Maximum age of cached keys. A revoked key is refused by all processes after half a second, and a
 * busy key costs two small queries per second.
 */
const FRESH_MS = 500;
/** During an attack with guessed keys, new keys and sessions may be refused this long. */
const MARKS_FRESH_MS = 100;

type Known = Credential & { expiresAt?: string };

/** A lookup of a secret. */
interface Question {
  mayBeRight: () => Promise<boolean>;
  ask: () => Promise<Known | null>;
}

/** Identifies the caller of a request. */
export class Callers {
  readonly #db: Queryable;
  readonly #loopback: boolean;
  readonly #limits: RateLimits;
  readonly #runnerUids: readonly UidRange[];
  readonly #known: FreshAnswers<Known | null>;
  readonly #facts: FreshAnswers<boolean>;
  /** Partial hashes of live keys and sessions; read only during an attack with guessed keys. */
  readonly #marks: FreshAnswers<ReadonlySet<string>>;

  constructor(
    db: Queryable,
    clock: Clock,
    host: string,
    limits: RateLimits,
    runnerUids: readonly UidRange[] = [],
  ) {
    this.#limits = limits;
    this.#runnerUids = runnerUids;
    this.#db = db;
    this.#loopback = isLoopback(host);
    this.#known = new FreshAnswers(clock, FRESH_MS);
    this.#facts = new FreshAnswers(clock, FRESH_MS);
    this.#marks = new FreshAnswers(clock, MARKS_FRESH_MS);
  }

  /**
   * Throws the same error whether the key is unknown, mistyped, revoked or expired. Without a reply
   * it re-checks a known request, which is not counted.
   */
  async identify(request: FastifyRequest, reply: FastifyReply | null): Promise<Caller> {
    const { authorization, cookie } = request.headers;
    if (authorization !== undefined) {
      const key = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
      return callerAs('key', (await this.#ofKey(key ?? '', request, reply)) ?? unauthorized());
    }
    const sessions: Known[] = [];
    for (const sessionId of readSessionCookies(cookie)) {
      const found = await this.#ofSession(sessionId, request, reply);
      if (found) sessions.push(found);
    }
    const [session] = sessions;
    // If two cookies are valid, one was planted, and it is unknown which.
    if (sessions.length > 1) return unauthorized();
    if (session) return callerAs('session', session);
    if (!(await this.isOpen())) return unauthorized();
    return (await this.#isRunner(request)) ? OPEN_TO_JOBS : OPEN;
  }

  /** A job must not create the first key, which would lock out everyone else. */
  async #isRunner({ socket }: FastifyRequest): Promise<boolean> {
    if (this.#runnerUids.length === 0) return false;
    return maybeRunner(await peerUsers(socket), this.#runnerUids);
  }

  /** The credential of a key, for a login. */
  async credential(key: string, request: FastifyRequest, reply: FastifyReply): Promise<Credential> {
    return (await this.#ofKey(key, request, reply)) ?? unauthorized();
  }

  countLogin(keyId: string, reply: FastifyReply): void {
    this.#limits.ofLogin(keyId, reply);
  }

  /** The first call of a session follows at once, perhaps from a rate-limited address. */
  sessionBegan(): void {
    this.#marks.forget('sessions');
  }

  /** Loopback server that never had a key. */
  async isOpen(): Promise<boolean> {
    if (!this.#loopback) return false;
    return !(await this.#facts.get('any key', async () => anyKey(this.#db)));
  }

  async hasTenant(tenant: string): Promise<boolean> {
    const exists = async () => tenantExists(this.#db, tenant);
    return await this.#facts.get(`tenant ${tenant}`, exists);
  }

  /** Drops the session from this process's cache; other processes take half a second. */
  forgetSession(sessionId: string): void {
    this.#known.forget(questionOf('session', sessionId));
  }

  async #ofKey(key: string, request: FastifyRequest, reply: FastifyReply | null) {
    const parts = parseApiKey(key);
    if (!parts) return null;
    const question = questionOf('key', key);
    return await this.#look(question, request, reply, {
      mayBeRight: async () =>
        (await this.#marks.get('keys', async () => liveKeyMarks(this.#db))).has(keyMark(parts)),
      ask: async () => findCredential(this.#db, parts),
    });
  }

  async #ofSession(id: string, request: FastifyRequest, reply: FastifyReply | null) {
    const question = questionOf('session', id);
    return await this.#look(question, request, reply, {
      mayBeRight: async () =>
        (await this.#marks.get('sessions', async () => liveSessionMarks(this.#db))).has(
          sessionMark(id),
        ),
      ask: async () => findSession(this.#db, id),
    });
  }

  /** An address with too many wrong secrets may only use known ones. */
  async #look(
    question: string,
    request: FastifyRequest,
    reply: FastifyReply | null,
    { mayBeRight, ask }: Question,
  ): Promise<Known | null> {
    if (reply) this.#limits.ofKey(question, reply);
    const isNew = !this.#known.has(question);
    if (isNew) await this.#limits.beforeUnknownKey(request, mayBeRight);
    const found = await this.#known.get(question, ask);
    if (isNew && !found) this.#limits.afterWrongKey(request);
    return found;
  }
}

/** Hashed, so that secrets are not kept in memory. */
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

/** A job process on a server without keys. */
const OPEN_TO_JOBS: Caller = { ...OPEN, scopes: ['jobs:read', 'jobs:write'] };

function unauthorized(): never {
  const detail = 'send a valid API key as "Authorization: Bearer lsk_…"';
  throw new Refusal('UNAUTHORIZED', detail, { headers: { 'www-authenticate': 'Bearer' } });
}
