import { CannotOpen } from '../core/access/sealed.ts';
import type { Vault } from '../store/connection/vault.ts';
import { Mask } from '../worker/attempt/mask.ts';
import type { SecretCache, Secrets } from '../worker/attempt/secrets.ts';
import type { Delivery } from './remote-worker.ts';

/**
 * What remote workers get besides the params: the secrets of their jobs. Masks what a job reports
 * whose worker does not: the secrets of its params, and those that it was given.
 */
export class DeliverySecrets {
  readonly #vault: Vault;
  readonly #cache: SecretCache;
  /** As they were delivered: they may have changed since. */
  readonly #given = new WeakMap<Delivery, Secrets | null>();
  readonly #masks = new WeakMap<Delivery, Mask>();

  constructor(vault: Vault, cache: SecretCache) {
    this.#vault = vault;
    this.#cache = cache;
  }

  /** Throws `CannotOpen`. */
  async of(delivery: Delivery): Promise<Secrets | null> {
    const given = this.#given.get(delivery);
    if (given !== undefined) return given;
    const secrets = await this.#cache.of(delivery);
    this.#given.set(delivery, secrets);
    return secrets;
  }

  async maskOf(delivery: Delivery): Promise<Mask> {
    const known = this.#masks.get(delivery);
    if (known) return known;
    const { definition, job, tenant } = delivery;
    const secrets = await this.of(delivery).catch(notDelivered(null));
    const paramsJson = this.#opened(tenant, job.paramsJson);
    const mask = new Mask(definition.redact, paramsJson, secrets?.values);
    this.#masks.set(delivery, mask);
    return mask;
  }

  #opened(tenant: string, json: string): string {
    try {
      return this.#vault.open(tenant, json);
    } catch (error) {
      return notDelivered('null')(error);
    }
  }
}

/** The worker never got what cannot be opened. */
function notDelivered<T>(instead: T): (error: unknown) => T {
  return (error) => {
    if (!(error instanceof CannotOpen)) throw error;
    return instead;
  };
}
