import type { Socket } from 'node:net';

/** What the network does to what travels on it. */
export type Weather =
  | { kind: 'pass' }
  /** Everything arrives, later. */
  | { kind: 'delay'; ms: number; jitterMs: number }
  | { kind: 'throttle'; bytesPerSecond: number }
  /** Everything is held back and arrives when the weather is better: late, but it arrives. */
  | { kind: 'stall' }
  /** Everything is dropped without an error. */
  | { kind: 'blackhole' };

type Parcel = { data: Buffer } | { end: true };

/**
 * One direction of one connection. Parcels leave in the order in which they came, the end of the
 * stream among them: a peer that hung up during a stall is heard to do so after what it said last.
 */
export class Channel {
  readonly #to: Socket;
  readonly #random: () => number;
  readonly #queue: Parcel[] = [];
  #weather: Weather = { kind: 'pass' };
  #timer: NodeJS.Timeout | undefined;
  #lossy = false;

  constructor(to: Socket, random: () => number) {
    this.#to = to;
    this.#random = random;
  }

  /** True when something was swallowed: what comes after it makes no sense any more. */
  get lossy(): boolean {
    return this.#lossy;
  }

  set weather(weather: Weather) {
    this.#weather = weather;
    this.#move();
  }

  send(data: Buffer): void {
    this.#queue.push({ data });
    this.#move();
  }

  end(): void {
    this.#queue.push({ end: true });
    this.#move();
  }

  /** Forgets what is under way. */
  drop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#queue.length = 0;
  }

  #move(): void {
    const { kind } = this.#weather;
    if (kind === 'blackhole') {
      this.#lossy ||= this.#queue.length > 0;
      this.drop();
      return;
    }
    if (kind === 'stall' || this.#timer) return;
    for (let parcel = this.#queue.shift(); parcel; parcel = this.#queue.shift()) {
      const waitMs = this.#waitMs(parcel);
      if (waitMs === 0) {
        this.#deliver(parcel);
        continue;
      }
      const late = parcel;
      this.#timer = setTimeout(() => {
        this.#timer = undefined;
        this.#deliver(late);
        this.#move();
      }, waitMs);
      return;
    }
  }

  #waitMs(parcel: Parcel): number {
    const weather = this.#weather;
    if (weather.kind === 'delay') return weather.ms + this.#random() * weather.jitterMs;
    if (weather.kind !== 'throttle' || !('data' in parcel)) return 0;
    return (parcel.data.length / weather.bytesPerSecond) * 1_000;
  }

  #deliver(parcel: Parcel): void {
    if ('end' in parcel) this.#to.end();
    else if (this.#to.writable) this.#to.write(parcel.data);
  }
}
