import ipaddr from 'ipaddr.js';

type Network = ReturnType<typeof ipaddr.parseCIDR>;

/** IPv6 addresses that are given out to anybody; all others are special in some way. */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3');

/**
 * Services of clouds for their own machines that have a public address: Azure's, which hands out keys and
 * settings. Those of others are at addresses that are refused anyway.
 */
const OF_CLOUDS = ['168.63.129.16/32'].map((network) => ipaddr.parseCIDR(network));

/**
 * Which addresses a webhook may reach: those of the public internet, and the networks that the operator
 * allows on top. Everything with another purpose is refused by default, whether it is private, loopback,
 * link-local, shared, multicast, reserved, or a way to write an IPv4 address inside an IPv6 one (6to4,
 * NAT64, Teredo). A mapped address is judged as the IPv4 address that a socket would really connect to.
 */
export class Networks {
  readonly #allowed: readonly Network[];

  /** In the notation of CIDR, such as `10.0.0.0/8`. */
  constructor(allowed: readonly string[] = []) {
    this.#allowed = allowed.map((network) => ipaddr.parseCIDR(network));
  }

  /** False for what is no address at all. */
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
