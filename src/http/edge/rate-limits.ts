import { isIPv6 } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isLoopback } from '../../core/access/bind.ts';
import { type Bucket, type BucketRule, takeToken } from '../../core/queue/token-bucket.ts';
import { Refusal } from '../../protocol/refusal.ts';
import type { Clock } from '../../runtime/clock.ts';

/** Rate limits of one process, applied before any query; 0 means no limit. */
export interface RequestLimits {
  keyRequestsPerSecond: number;
  addressRequestsPerSecond: number;
}

export const NO_LIMITS: RequestLimits = { keyRequestsPerSecond: 0, addressRequestsPerSecond: 0 };

/** Burst, in seconds of the rate. */
const BURST_SECONDS = 2;
/** Wrong keys per address: each one costs a query. */
const WRONG_KEYS: BucketRule = { perSecond: 10, burst: 100 };
/** Logins per key and per user. */
const LOGINS: BucketRule = { perSecond: 1, burst: 30 };
/** Answers of the identity provider per address: each one costs a call of the provider. */
const SIGN_INS: BucketRule = { perSecond: 10, burst: 100 };
/** Wrong one-time links per address: each one costs a query. */
const WRONG_LINKS: BucketRule = { perSecond: 1, burst: 30 };
const BUCKETS_MAX = 10_000;

/** One token bucket per name; the least recently used is dropped. */
class RateLimit {
  readonly #what: string;
  readonly #rule: BucketRule;
  readonly #clock: Clock;
  readonly #buckets = new Map<string, Bucket>();

  constructor(what: string, rule: BucketRule, clock: Clock) {
    this.#what = what;
    this.#rule = rule;
    this.#clock = clock;
  }

  /** Throws when the limit is exceeded; adds the rate limit headers. */
  take(name: string, reply: FastifyReply): void {
    if (this.#rule.perSecond === 0) return;
    const taken = takeToken(this.#buckets.get(name), this.#rule, this.#clock.monotonicMs());
    this.#keep(name, taken.bucket);
    const { perSecond, burst } = this.#rule;
    const seconds = Math.ceil(taken.retryAfterMs / 1_000);
    const headers = {
      'ratelimit-policy': `"${this.#what}";q=${burst};w=${Math.ceil(burst / perSecond)}`,
      ratelimit: `"${this.#what}";r=${taken.remaining};t=${seconds}`,
    };
    void reply.headers(headers);
    if (!taken.allowed) throw limited(this.#what, seconds, headers);
  }

  /** Whether the bucket is empty; takes nothing. */
  isSpent(name: string): boolean {
    const bucket = this.#buckets.get(name);
    return !takeToken(bucket, this.#rule, this.#clock.monotonicMs()).allowed;
  }

  /** Takes one token without headers. */
  charge(name: string): void {
    const now = this.#clock.monotonicMs();
    this.#keep(name, takeToken(this.#buckets.get(name), this.#rule, now).bucket);
  }

  #keep(name: string, bucket: Bucket): void {
    this.#buckets.delete(name);
    this.#buckets.set(name, bucket);
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > BUCKETS_MAX && oldest !== undefined) this.#buckets.delete(oldest);
  }
}

/**
 * Rate limits of the API, per process and before any work: per address, per key, and for wrong keys
 * per address. Loopback has no limit per address, because it may be a proxy for everyone.
 */
export class RateLimits {
  readonly #addresses: RateLimit;
  readonly #keys: RateLimit;
  readonly #workers: RateLimit;
  readonly #wrongKeys: RateLimit;
  readonly #logins: RateLimit;
  readonly #signIns: RateLimit;
  readonly #wrongLinks: RateLimit;

  constructor(limits: RequestLimits, clock: Clock) {
    const rule = (perSecond: number) => ({ perSecond, burst: perSecond * BURST_SECONDS });
    this.#addresses = new RateLimit('address', rule(limits.addressRequestsPerSecond), clock);
    this.#keys = new RateLimit('key', rule(limits.keyRequestsPerSecond), clock);
    this.#workers = new RateLimit('worker', rule(limits.keyRequestsPerSecond), clock);
    this.#wrongKeys = new RateLimit('wrong-keys', WRONG_KEYS, clock);
    this.#logins = new RateLimit('logins', LOGINS, clock);
    this.#signIns = new RateLimit('sign-ins', SIGN_INS, clock);
    this.#wrongLinks = new RateLimit('wrong-links', WRONG_LINKS, clock);
  }

  ofAddress({ clientAddress: ip }: FastifyRequest, reply: FastifyReply): void {
    if (!isLoopback(ip)) this.#addresses.take(networkOf(ip), reply);
  }

  /**
   * `name` identifies the whole key including its secret, so that only its owner can use up its
   * limit. Calls of workers have a limit of their own: other calls with the same key cannot stop
   * heartbeats.
   */
  ofKey(name: string, reply: FastifyReply, isWorker = false): void {
    (isWorker ? this.#workers : this.#keys).take(name, reply);
  }

  /**
   * Called before an unknown key is looked up. An address with too many wrong keys may only look up
   * keys that may be valid, because others behind the same proxy have keys too. The check uses the
   * hash of the secret, so knowing a key id is not enough.
   */
  async beforeUnknownKey(
    { clientAddress: ip }: FastifyRequest,
    mayBeRight: () => Promise<boolean>,
  ): Promise<void> {
    if (!this.#wrongKeys.isSpent(networkOf(ip)) || (await mayBeRight())) return;
    throw limited('wrong-keys', 1, {});
  }

  afterWrongKey({ clientAddress: ip }: FastifyRequest): void {
    this.#wrongKeys.charge(networkOf(ip));
  }

  /** Each login writes a session and an audit entry. */
  ofLogin(who: string, reply: FastifyReply): void {
    this.#logins.take(who, reply);
  }

  ofSignIn({ clientAddress: ip }: FastifyRequest, reply: FastifyReply): void {
    this.#signIns.take(networkOf(ip), reply);
  }

  /** An address with too many wrong links may open none for a while. */
  beforeLink({ clientAddress: ip }: FastifyRequest): void {
    if (this.#wrongLinks.isSpent(networkOf(ip))) throw limited('wrong-links', 1, {});
  }

  afterWrongLink({ clientAddress: ip }: FastifyRequest): void {
    this.#wrongLinks.charge(networkOf(ip));
  }
}

/** An IPv6 client usually owns a /64 network. */
export function networkOf(ip: string): string {
  if (!isIPv6(ip) || ip.startsWith('::ffff:')) return ip;
  const [head = '', tail] = ip.split('::');
  const front = head === '' ? [] : head.split(':');
  const back = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? [] : Array<string>(8 - front.length - back.length).fill('0');
  return [...front, ...zeros, ...back].slice(0, 4).join(':');
}

function limited(what: string, seconds: number, more: Record<string, string>): Refusal {
  const headers = { ...more, 'retry-after': String(Math.max(1, seconds)) };
  const byKey = ['key', 'worker', 'logins'].includes(what);
  const whose = byKey ? 'by this key' : 'from this address';
  return new Refusal('RATE_LIMITED', `too many requests ${whose}; try again later`, { headers });
}
