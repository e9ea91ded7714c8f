import { BlockList, isIP, isIPv6 } from 'node:net';
import type { FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /** Client address, for rate limits and the audit log. */
    clientAddress: string;
  }
}

/** Proxies whose `X-Forwarded-For` is trusted. Any other client could forge it. */
export class TrustedProxies {
  readonly #networks = new BlockList();
  readonly #any: boolean;

  /** In CIDR notation, such as `10.0.0.0/8`. */
  constructor(networks: readonly string[] = []) {
    this.#any = networks.length > 0;
    for (const network of networks) {
      const [address = '', prefix = ''] = network.split('/');
      this.#networks.addSubnet(address, Number(prefix), isIPv6(address) ? 'ipv6' : 'ipv4');
    }
  }

  /**
   * Each proxy appends the address of its caller. So the list is read from its end as long as the
   * writer of an entry is trusted; an invalid address ends it.
   */
  clientOf({ ip, headers }: Pick<FastifyRequest, 'ip' | 'headers'>): string {
    let client = plain(ip);
    if (!this.#any) return client;
    const given = [headers['x-forwarded-for'] ?? []].flat().join(',');
    for (const entry of given.slice(-LIST_LENGTH_MAX).split(',').reverse()) {
      if (!this.#has(client)) break;
      const address = plain(entry.trim());
      if (isIP(address) === 0) break;
      client = address;
    }
    return client;
  }

  #has(address: string): boolean {
    return this.#networks.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
  }
}

const LIST_LENGTH_MAX = 4_096;

/** Without port and brackets; mapped IPv4 addresses as IPv4. */
function plain(text: string): string {
  const [, bracketed] = /^\[([^\]]*)\](?::\d+)?$/.exec(text) ?? [];
  const [, beforePort] = /^([\d.]+):\d+$/.exec(text) ?? [];
  return (bracketed ?? beforePort ?? text).replace(/^::ffff:(?=[\d.]+$)/i, '');
}
