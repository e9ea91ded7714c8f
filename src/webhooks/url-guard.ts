import type { LookupFunction } from 'node:net';
import { unknownName } from '../core/values/nearest.ts';
import { brokerIn } from '../core/webhook/broker-target.ts';
import { judgeUrl } from '../core/webhook/webhook-url.ts';
import { addressIn, AddressNotAllowed, guardedLookup } from './address-guard.ts';
import { namesLookup } from './names.ts';
import type { Networks } from './networks.ts';

const PATIENCE_MS = 2_000;
/** Each lookup holds sockets, for many seconds where a name server never answers. */
const LOOK_UPS_MAX = 32;

/**
 * Refuses at once what the dialer would refuse later. A name that cannot be looked up now is
 * accepted: it may exist tomorrow, and each send is checked anyway. So is a name that comes while
 * many lookups are in flight, because callers with slow name servers could use up the open files of
 * the process.
 */
export class UrlGuard {
  readonly #networks: Networks;
  readonly #resolve: LookupFunction;
  readonly #brokers: readonly string[];
  #underWay = 0;

  /** `brokers` are the names of brokers that webhooks may publish to. */
  constructor(
    networks: Networks,
    resolve: LookupFunction = namesLookup(),
    brokers: readonly string[] = [],
  ) {
    this.#networks = networks;
    this.#resolve = resolve;
    this.#brokers = brokers;
  }

  /** The problem of a URL; null when there is none. */
  async problemOf(text: string): Promise<string | null> {
    const broker = brokerIn(text);
    if (broker !== null) {
      return this.#brokers.includes(broker) ? null : unknownName('broker', broker, this.#brokers);
    }
    const verdict = judgeUrl(text);
    if (!verdict.ok) return verdict.detail;
    const refusal = new AddressNotAllowed().message;
    const address = addressIn(verdict.url.hostname);
    if (address !== null) return this.#networks.allows(address) ? null : refusal;
    return (await this.#leadsAstray(verdict.url.hostname)) ? refusal : null;
  }

  async #leadsAstray(hostname: string): Promise<boolean> {
    if (this.#underWay >= LOOK_UPS_MAX) return false;
    this.#underWay += 1;
    return await new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), PATIENCE_MS);
      guardedLookup(this.#networks, this.#resolve)(hostname, { all: true }, (error) => {
        this.#underWay -= 1;
        clearTimeout(timer);
        resolve(error instanceof AddressNotAllowed);
      });
    });
  }
}
