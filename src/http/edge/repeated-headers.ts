import type { FastifyRequest } from 'fastify';
import { Refusal } from '../../protocol/refusal.ts';

/** These headers must not be repeated: a proxy could read one and this server the other. */
const ONCE = ['host', 'authorization', 'content-type', 'origin', 'cookie'];

/** Names and values alternate in `rawHeaders`. */
export function refuseRepeatedHeaders({ raw: { rawHeaders } }: FastifyRequest): void {
  const seen: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? '';
    if (!ONCE.includes(name)) continue;
    if (seen.includes(name)) throw new Refusal('BAD_REQUEST', `the header ${name} is repeated`);
    seen.push(name);
  }
}
