import type { FastifyRequest } from 'fastify';
import { Refusal } from '../../protocol/refusal.ts';

/** These headers must not be repeated: a proxy could read one and this server the other. */
const ONCE = new Set(['host', 'authorization', 'content-type', 'origin', 'cookie']);

export function refuseRepeatedHeaders({ raw }: FastifyRequest): void {
  const seen = new Set<string>();
  for (const [index, text] of raw.rawHeaders.entries()) {
    const name = index % 2 === 0 ? text.toLowerCase() : '';
    if (!ONCE.has(name)) continue;
    if (seen.has(name)) throw new Refusal('BAD_REQUEST', `the header ${name} is repeated`);
    seen.add(name);
  }
}
