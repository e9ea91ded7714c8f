import type { Clock } from '../runtime/clock.ts';

/** A tenant none of whose deliveries began or ended for so long has receivers that hang. */
export const HANGS_MS = 250;
/** The longest wait for room: the slots of those that wait are missing to other tenants. */
export const ROOM_WAIT_MS = 1_000;

interface Tenant {
  underWay: number;
  /** When a delivery last began or ended. */
  movedMs: number;
  /** The first one goes next; true: there is room for it. */
  waiting: ((hasRoom: boolean) => void)[];
}

/**
 * Limits the concurrent deliveries of one tenant in a worker. More of them wait for room while those of
 * the tenant get on: coming back later costs the database more than a delivery.
 */
export class TenantShare {
  readonly #max: number;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #tenants = new Map<string, Tenant>();

  constructor(max: number, clock: Pick<Clock, 'monotonicMs'>) {
    this.#max = max;
    this.#clock = clock;
  }

  /** Null when there is no room; otherwise call the returned function when the delivery is over. */
  async take(tenant: string): Promise<(() => void) | null> {
    const one = this.#tenants.get(tenant) ?? { underWay: 0, movedMs: 0, waiting: [] };
    this.#tenants.set(tenant, one);
    if (one.underWay < this.#max) {
      one.underWay += 1;
      one.movedMs = this.#clock.monotonicMs();
    } else if (!(await this.#hasRoomSoon(one))) {
      return null;
    }
    return () => this.#leave(tenant, one);
  }

  async #hasRoomSoon(one: Tenant): Promise<boolean> {
    const lastMs = this.#clock.monotonicMs() + ROOM_WAIT_MS;
    return await new Promise<boolean>((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      const answer = (hasRoom: boolean) => {
        clearTimeout(timer);
        resolve(hasRoom);
      };
      const wait = () => {
        const leftMs = Math.min(lastMs, one.movedMs + HANGS_MS) - this.#clock.monotonicMs();
        if (leftMs > 0) timer = setTimeout(wait, leftMs);
        else giveUp();
      };
      const giveUp = () => {
        one.waiting.splice(one.waiting.indexOf(answer), 1);
        answer(false);
      };
      one.waiting.push(answer);
      wait();
    });
  }

  #leave(tenant: string, one: Tenant): void {
    one.movedMs = this.#clock.monotonicMs();
    const next = one.waiting.shift();
    if (next) return next(true);
    one.underWay -= 1;
    if (one.underWay === 0) this.#tenants.delete(tenant);
  }
}
