import { CannotOpen } from '../core/access/sealed.ts';
import { LargeValueLost } from '../core/large/large-value.ts';
import type { WorkerStore } from '../worker/claim/port.ts';
import { Mask } from '../worker/attempt/mask.ts';
import type { SecretCache, Secrets } from '../worker/attempt/secrets.ts';
import { openedParams } from './deliver.ts';
import type { Delivery } from './remote-worker.ts';

/**
 * What remote workers get besides the params: the secrets of their jobs. Masks what a job reports
 * whose worker does not: the secrets of its params, and those that it was given.
 */
export class DeliverySecrets {
  readonly #store: Pick<WorkerStore, 'vault' | 'large'>;
  readonly #cache: SecretCache;
  /** As they were delivered: they may have changed since. */
  readonly #given = new WeakMap<Delivery, Secrets | null>();
  readonly #masks = new WeakMap<Delivery, Mask>();

  constructor(store: Pick<WorkerStore, 'vault' | 'large'>, cache: SecretCache) {
    this.#store = store;
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
    const { definition } = delivery;
    const secrets = await this.of(delivery).catch(notDelivered(null));
    const paramsJson = await openedParams(this.#store, delivery).catch(notDelivered('null'));
    const mask = new Mask(definition.redact, paramsJson, secrets?.values);
    this.#masks.set(delivery, mask);
    return mask;
  }
}

/** The worker never got what cannot be opened. */
function notDelivered<T>(instead: T): (error: unknown) => T {
  return (error) => {
    if (!(error instanceof CannotOpen) && !(error instanceof LargeValueLost)) throw error;
    return instead;
  };
}
