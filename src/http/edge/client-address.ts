import { BlockList, isIP, isIPv6 } from 'node:net';
import type { FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /** Where the request comes from: of limits, and of the audit log. */
    clientAddress: string;
  }
}

/** Proxies whose `X-Forwarded-For` is believed. Everybody else can write what they like into it. */
export class TrustedProxies {
  readonly #networks = new BlockList();

  /** In the notation of CIDR, such as `10.0.0.0/8`. */
  constructor(networks: readonly string[] = []) {
    for (const network of networks) {
      const [address = '', prefix = ''] = network.split('/');
      this.#networks.addSubnet(address, Number(prefix), isIPv6(address) ? 'ipv6' : 'ipv4');
    }
  }

  /**
   * Each proxy adds at the end of the list whom it was called by. So the list is read from its end, as
   * long as the one who wrote the entry is trusted; what is no address ends it as well.
   */
  clientOf({ ip, headers }: Pick<FastifyRequest, 'ip' | 'headers'>): string {
    let client = plain(ip);
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

/** Without a port, without brackets, and IPv4 as such. */
function plain(text: string): string {
  const [, bracketed] = /^\[([^\]]*)\](?::\d+)?$/.exec(text) ?? [];
  const [, beforePort] = /^([\d.]+):\d+$/.exec(text) ?? [];
  return (bracketed ?? beforePort ?? text).replace(/^::ffff:(?=[\d.]+$)/i, '');
}
