import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Refusal } from '../../protocol/refusal.ts';
import { unavailable } from '../problem.ts';

/** Smaller bodies are not counted: request and connection limits bound them. */
const COUNTED_MIN_BYTES = 65_536;
export const BODY_ROOM_BYTES = 256 * 1024 * 1024;

/**
 * Bounds the bytes of large bodies in memory, from the first byte until the response is sent.
 * Otherwise hundreds of concurrent 16 MB batches would exhaust the memory. One tenant may use half
 * of it.
 */
export class BodyRoom {
  readonly #maxBytes: number;
  readonly #ofTenant = new Map<string, number>();
  #bytes = 0;

  constructor(maxBytes: number = BODY_ROOM_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** Throws if the limit is reached; call the returned function at the end of the request. */
  take(tenant: string, bytes: number): () => void {
    const own = this.#ofTenant.get(tenant) ?? 0;
    if (own + bytes > this.#maxBytes / 2) {
      const detail = 'too many large requests of this tenant are in progress; try again later';
      throw new Refusal('RATE_LIMITED', detail, { headers: { 'retry-after': '1' } });
    }
    if (this.#bytes + bytes > this.#maxBytes) {
      throw unavailable('too many large requests are in progress; try again later');
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

/** Runs after the access check: no body is read before the caller is known. */
export function limitBodies(app: FastifyInstance, room: BodyRoom): void {
  app.addHook('onRequest', (request, reply, done) => {
    const bytes = bytesToCome(request);
    if (request.caller && bytes >= COUNTED_MIN_BYTES) {
      const leave = room.take(request.caller.home, bytes);
      for (const event of ['finish', 'close']) reply.raw.once(event, leave);
    }
    done();
  });
}

/** A body of unknown length counts as the maximum of its route. */
function bytesToCome({ headers, routeOptions }: FastifyRequest): number {
  if (routeOptions.config.streams) return 0;
  const max = routeOptions.bodyLimit;
  if (headers['transfer-encoding'] !== undefined) return max;
  return Math.min(Number(headers['content-length'] ?? 0), max);
}
