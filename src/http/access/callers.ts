import type { FastifyReply, FastifyRequest } from 'fastify';
import { parseApiKey } from '../../core/access/api-key.ts';
import { isLoopback } from '../../core/access/bind.ts';
import { maybeRunner, type UidRange } from '../../core/access/machine-users.ts';
import { DEFAULT_TENANT, SCOPE_NAMES } from '../../core/access/scope.ts';
import { Refusal } from '../../protocol/refusal.ts';
import type { Clock } from '../../runtime/clock.ts';
import { peerUsers } from '../../runtime/processes/peer-users.ts';
import {
  anyKey,
  type Credential,
  findCredential,
  keyHashPrefix,
  liveKeyPrefixes,
} from '../../store/access/credentials.ts';
import type { Queryable } from '../../store/connection/db.ts';
import { hashSecret } from '../../store/access/keys.ts';
import {
  findSession,
  type FoundSession,
  liveSessionIds,
  sessionIdOf,
} from '../../store/access/sessions.ts';
import { tenantExists, tenantNames } from '../../store/access/tenants.ts';
import type { HttpDeps } from '../deps.ts';
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
const PREFIXES_FRESH_MS = 100;

type Known = Credential | FoundSession;

/** A lookup of a secret. */
interface Question {
  mayBeRight: () => Promise<boolean>;
  ask: () => Promise<Known | null>;
}

type CallersDeps = Pick<HttpDeps, 'db' | 'reserved' | 'host' | 'runnerUids' | 'signIn'>;

/** Identifies the caller of a request. */
export class Callers {
  readonly #db: Queryable;
  readonly #reserved: Queryable;
  readonly #mayBeOpen: boolean;
  readonly #issuer: string | null;
  readonly #limits: RateLimits;
  readonly #runnerUids: readonly UidRange[];
  readonly #known: FreshAnswers<Known | null>;
  readonly #facts: FreshAnswers<boolean>;
  /** Partial hashes of live keys and sessions; read only during an attack with guessed keys. */
  readonly #prefixes: FreshAnswers<ReadonlySet<string>>;

  constructor(
    { db, reserved = db, host, runnerUids = [], signIn }: CallersDeps,
    clock: Clock,
    limits: RateLimits,
  ) {
    this.#limits = limits;
    this.#runnerUids = runnerUids;
    this.#db = db;
    this.#reserved = reserved;
    this.#mayBeOpen = isLoopback(host) && signIn === undefined;
    this.#issuer = signIn?.issuer ?? null;
    this.#known = new FreshAnswers(clock, FRESH_MS);
    this.#facts = new FreshAnswers(clock, FRESH_MS);
    this.#prefixes = new FreshAnswers(clock, PREFIXES_FRESH_MS);
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
    for (const secret of readSessionCookies(cookie)) {
      const found = await this.#ofSession(secret, request, reply);
      if (found) sessions.push(found);
    }
    const [session] = sessions;
    // If two cookies are valid, one was planted, and it is unknown which.
    if (sessions.length > 1) return unauthorized();
    if (session) return callerAs('session', session);
    if (!(await this.#isOpen(request))) return unauthorized();
    return (await this.#isRunner(request)) ? OPEN_TO_JOBS : OPEN;
  }

  /** A job must not create the first key, which would lock out everyone else. */
  async #isRunner({ socket }: FastifyRequest): Promise<boolean> {
    if (this.#runnerUids.length === 0) return false;
    return maybeRunner(await peerUsers(socket), this.#runnerUids);
  }

  /** The credential of a key, for a login. */
  async credential(key: string, request: FastifyRequest, reply: FastifyReply): Promise<Credential> {
    const found = await this.#ofKey(key, request, reply);
    return found && isCredential(found) ? found : unauthorized();
  }

  /** `who` is a key id or a user. */
  countLogin(who: string, reply: FastifyReply): void {
    this.#limits.ofLogin(who, reply);
  }

  countSignIn(request: FastifyRequest, reply: FastifyReply): void {
    this.#limits.ofSignIn(request, reply);
  }

  /** The first call of a session follows at once, perhaps from a rate-limited address. */
  sessionBegan(): void {
    this.#prefixes.forget('sessions');
  }

  /** Loopback server that never had a key, and has no identity provider. */
  async #isOpen(request: FastifyRequest): Promise<boolean> {
    if (!this.#mayBeOpen) return false;
    const question = isOfWorker(request) ? 'any key, for a worker' : 'any key';
    return !(await this.#facts.get(question, async () => anyKey(this.#dbFor(request))));
  }

  /** A busy server must not delay the heartbeats of workers. */
  #dbFor(request: FastifyRequest): Queryable {
    return isOfWorker(request) ? this.#reserved : this.#db;
  }

  async hasTenant(tenant: string): Promise<boolean> {
    const exists = async () => tenantExists(this.#db, tenant);
    return await this.#facts.get(`tenant ${tenant}`, exists);
  }

  async tenantNames(): Promise<string[]> {
    return await tenantNames(this.#db);
  }

  /** Drops the session from this process's cache; other processes take half a second. */
  forgetSession(secretHash: Buffer): void {
    this.#known.forget(cacheKey('session', secretHash));
  }

  async #ofKey(key: string, request: FastifyRequest, reply: FastifyReply | null) {
    const parts = parseApiKey(key);
    if (!parts) return null;
    const question = cacheKey('key', hashSecret(key));
    return await this.#lookUp(question, request, reply, {
      mayBeRight: async () =>
        (await this.#prefixes.get('keys', async () => liveKeyPrefixes(this.#dbFor(request)))).has(
          keyHashPrefix(parts),
        ),
      ask: async () => findCredential(this.#dbFor(request), parts),
    });
  }

  async #ofSession(secret: string, request: FastifyRequest, reply: FastifyReply | null) {
    const question = cacheKey('session', hashSecret(secret));
    return await this.#lookUp(question, request, reply, {
      mayBeRight: async () =>
        (await this.#prefixes.get('sessions', async () => liveSessionIds(this.#db))).has(
          sessionIdOf(secret),
        ),
      ask: async () => this.#liveSession(secret),
    });
  }

  /** Users of an identity provider that is no longer configured have no access. */
  async #liveSession(secret: string): Promise<FoundSession | null> {
    const found = await findSession(this.#db, secret);
    return found?.user && found.user.issuer !== this.#issuer ? null : found;
  }

  /** An address with too many wrong secrets may only use known ones. */
  async #lookUp(
    question: string,
    request: FastifyRequest,
    reply: FastifyReply | null,
    { mayBeRight, ask }: Question,
  ): Promise<Known | null> {
    if (reply) this.#limits.ofKey(question, reply, isOfWorker(request));
    const isNew = !this.#known.has(question);
    if (isNew) await this.#limits.beforeUnknownKey(request, mayBeRight);
    const found = await this.#known.get(question, ask);
    if (isNew && !found) this.#limits.afterWrongKey(request);
    return found;
  }
}

function isOfWorker({ routeOptions }: FastifyRequest): boolean {
  return routeOptions.config.access === 'worker';
}

/** Hashed, so that secrets are not kept in memory. */
function cacheKey(kind: string, secretHash: Buffer): string {
  return `${kind} ${secretHash.toString('base64')}`;
}

function isCredential(known: Known): known is Credential {
  return known.keyId !== null;
}

function callerAs(kind: 'key' | 'session', known: Known): Caller {
  const { keyId, keyName, tenant, scopes, definitions } = known;
  const session = 'sessionId' in known ? known : NO_SESSION;
  const { sessionId, user, expiresAt } = session;
  const rights = { home: tenant, tenant, scopes, definitions };
  return { kind, keyId, keyName, sessionId, user, ...rights, expiresAt };
}

const NO_SESSION = { sessionId: null, user: null, expiresAt: null };

const OPEN: Caller = {
  ...NO_SESSION,
  kind: 'open',
  keyId: null,
  keyName: null,
  home: DEFAULT_TENANT,
  tenant: DEFAULT_TENANT,
  scopes: SCOPE_NAMES,
  definitions: null,
};

/** A job process on a server without keys. */
const OPEN_TO_JOBS: Caller = { ...OPEN, scopes: ['jobs:read', 'jobs:write'] };

function unauthorized(): never {
  const detail = 'send a valid API key as "Authorization: Bearer lsk_…"';
  throw new Refusal('UNAUTHORIZED', detail, { headers: { 'www-authenticate': 'Bearer' } });
}
