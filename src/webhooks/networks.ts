import ipaddr from 'ipaddr.js';

type Network = ReturnType<typeof ipaddr.parseCIDR>;

/** Public IPv6 addresses; all others have a special purpose. */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3');

/**
 * Cloud services for their own machines at a public address: Azure's, which hands out keys and
 * settings. Those of other clouds are at addresses that are refused anyway.
 */
const OF_CLOUDS = ['168.63.129.16/32'].map((network) => ipaddr.parseCIDR(network));

/**
 * The addresses that a webhook may reach: the public internet, and networks that the operator
 * allows. All others are refused by default: private, loopback, link-local, shared, multicast,
 * reserved, and IPv4 addresses inside IPv6 ones (6to4, NAT64, Teredo). A mapped address is checked
 * as the IPv4 address that a socket would connect to.
 */
export class Networks {
  readonly #allowed: readonly Network[];

  /** In CIDR notation, such as `10.0.0.0/8`. */
  constructor(allowed: readonly string[] = []) {
    this.#allowed = allowed.map((network) => ipaddr.parseCIDR(network));
  }

  /** False for invalid addresses. */
  allows(text: string): boolean {
    if (!ipaddr.isValid(text)) return false;
    const address = ipaddr.process(text);
    return isPublic(address) || this.#allowed.some((network) => contains(network, address));
  }
}

function isPublic(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  if (address.range() !== 'unicast') return false;
  if (OF_CLOUDS.some((network) => contains(network, address))) return false;
  return address.kind() === 'ipv4' || contains(GLOBAL_UNICAST, address);
}

function contains(network: Network, address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  return network[0].kind() === address.kind() && address.match(network);
}
