import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Refusal } from '../../protocol/refusal.ts';
import { unavailable } from '../problem.ts';

/** Smaller bodies are not counted: the limits of requests and connections bound them. */
const COUNTED_MIN_BYTES = 65_536;
export const BODY_ROOM_BYTES = 256 * 1024 * 1024;

/**
 * How many bytes of large bodies this process holds at once, from the first byte until the answer is
 * sent. Without a bound, a caller that opens hundreds of batches of 16 MB takes all memory there is. One
 * tenant may have half of the room, so that others find some.
 */
export class BodyRoom {
  readonly #maxBytes: number;
  readonly #ofTenant = new Map<string, number>();
  #bytes = 0;

  constructor(maxBytes: number = BODY_ROOM_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** Throws when there is no room; call what it answers when the request is over. */
  take(tenant: string, bytes: number): () => void {
    const own = this.#ofTenant.get(tenant) ?? 0;
    if (own + bytes > this.#maxBytes / 2) {
      const detail = 'too many large bodies of this tenant are being read here; try again later';
      throw new Refusal('RATE_LIMITED', detail, { headers: { 'retry-after': '1' } });
    }
    if (this.#bytes + bytes > this.#maxBytes) {
      throw unavailable('too many large bodies are being read here; try again later');
    }
    this.#add(tenant, bytes);
    let held = bytes;
    return () => {
      this.#add(tenant, -held);
      held = 0;
    };
  }

  #add(tenant: string, bytes: number): void {
    this.#bytes += bytes;
    const own = (this.#ofTenant.get(tenant) ?? 0) + bytes;
    if (own === 0) this.#ofTenant.delete(tenant);
    else this.#ofTenant.set(tenant, own);
  }
}

/** To be called after the door: until the caller is known, no body is read. */
export function limitBodies(app: FastifyInstance, room: BodyRoom): void {
  app.addHook('onRequest', async (request, reply) => {
    const bytes = bytesToCome(request);
    if (!request.caller || bytes < COUNTED_MIN_BYTES) return;
    const leave = room.take(request.caller.home, bytes);
    for (const event of ['finish', 'close']) reply.raw.once(event, leave);
  });
}

/** A body of unknown length may have all that its route allows. */
function bytesToCome({ headers, routeOptions }: FastifyRequest): number {
  const max = routeOptions.bodyLimit;
  if (headers['transfer-encoding'] !== undefined) return max;
  return Math.min(Number(headers['content-length'] ?? 0), max);
}
