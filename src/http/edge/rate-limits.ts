import { isIPv6 } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isLoopback } from '../../core/access/bind.ts';
import { type Bucket, type BucketRule, takeToken } from '../../core/queue/token-bucket.ts';
import { Refusal } from '../../protocol/refusal.ts';
import type { Clock } from '../../runtime/clock.ts';

/** What one process allows before it asks the database anything; 0 is no limit. */
export interface RequestLimits {
  keyRequestsPerSecond: number;
  addressRequestsPerSecond: number;
}

export const NO_LIMITS: RequestLimits = { keyRequestsPerSecond: 0, addressRequestsPerSecond: 0 };

/** For so many seconds' worth of requests a caller may be ahead of the rate. */
const BURST_SECONDS = 2;
/** Of keys that turned out to be none, per address: each cost the database a look. */
const WRONG_KEYS: BucketRule = { perSecond: 10, burst: 100 };
/** Of sessions that begin with one key. */
const LOGINS: BucketRule = { perSecond: 1, burst: 30 };
const BUCKETS_MAX = 10_000;

/** One bucket for each name. When there are too many, the one that was used longest ago is dropped. */
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

  /** Throws the refusal when there have been too many; tells the caller how many are left. */
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

  /** Whether it is empty, without taking anything. */
  isSpent(name: string): boolean {
    const bucket = this.#buckets.get(name);
    return !takeToken(bucket, this.#rule, this.#clock.monotonicMs()).allowed;
  }

  /** Takes one without a word. */
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
 * The limits of the door. They are counted per process and before any work is done: an address may
 * send so much, then a key may, and an address that shows wrong keys soon has to slow down. Loopback
 * has no limit per address: that is this machine itself, or a proxy with everybody behind it.
 */
export class RateLimits {
  readonly #addresses: RateLimit;
  readonly #keys: RateLimit;
  readonly #wrongKeys: RateLimit;
  readonly #logins: RateLimit;

  constructor(limits: RequestLimits, clock: Clock) {
    const rule = (perSecond: number) => ({ perSecond, burst: perSecond * BURST_SECONDS });
    this.#addresses = new RateLimit('address', rule(limits.addressRequestsPerSecond), clock);
    this.#keys = new RateLimit('key', rule(limits.keyRequestsPerSecond), clock);
    this.#wrongKeys = new RateLimit('wrong-keys', WRONG_KEYS, clock);
    this.#logins = new RateLimit('logins', LOGINS, clock);
  }

  ofAddress({ clientAddress: ip }: FastifyRequest, reply: FastifyReply): void {
    if (!isLoopback(ip)) this.#addresses.take(networkOf(ip), reply);
  }

  /** `name` stands for the whole key, so that nobody can use up the limit of a key he does not have. */
  ofKey(name: string, reply: FastifyReply): void {
    this.#keys.take(name, reply);
  }

  /**
   * Before the database is asked about a key that is not known here. Where the address has shown too
   * many wrong ones, only those go on that may be right: others behind the same proxy have keys, too.
   * That is told by the hash of the secret, so that nobody who knows only the id of a key can use up
   * what its owner may.
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

  /** Each login is a row, an entry of the audit log, and a cookie that lives for hours. */
  ofLogin(keyId: string, reply: FastifyReply): void {
    this.#logins.take(keyId, reply);
  }
}

/** Whoever has one address of IPv6 has the 2^64 beside it, too. */
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
  const whose = what === 'key' || what === 'logins' ? 'by this key' : 'from this address';
  return new Refusal('RATE_LIMITED', `too many requests ${whose}; try again later`, { headers });
}
