import { isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { namesLookup } from './names.ts';
import type { Networks } from './networks.ts';

/**
 * Whoever may make a webhook chooses where this server sends requests to, and the server stands where
 * they do not: beside the database, the metadata service of the cloud, other people's machines. To look
 * at the URL is not enough, because a name can lead anywhere and lead elsewhere a moment later. So the
 * one who dials decides: the addresses that the socket is given are those that were judged, and there is
 * no second look-up between the two. One bad address among good ones refuses them all. A number instead
 * of a name is never looked up, so it is judged on its own; and what was really connected to is judged
 * once more.
 *
 * Connections are not kept: the next send dials again, and is judged again.
 */
export class AddressNotAllowed extends Error {
  override name = 'AddressNotAllowed';
  readonly code = 'ADDRESS_NOT_ALLOWED';

  constructor() {
    // Not which address: it may be one that the caller could learn only from here.
    super('it leads to an address that webhooks may not reach');
  }
}

const CONNECT_MS = 10_000;

export function guardedDialer(
  networks: Networks,
  resolve: LookupFunction = namesLookup(),
): Dispatcher {
  const connect = buildConnector({
    timeout: CONNECT_MS,
    lookup: guardedLookup(networks, resolve),
  });
  return new Agent({
    pipelining: 0,
    connect: (options, callback) => {
      const number = addressIn(options.hostname);
      if (number !== null && !networks.allows(number))
        return callback(new AddressNotAllowed(), null);
      connect(options, (error, socket) => {
        if (error) return callback(error, null);
        if (networks.allows(socket.remoteAddress ?? '')) return callback(null, socket);
        socket.destroy();
        callback(new AddressNotAllowed(), null);
      });
    },
  });
}

/** Looks a name up and refuses it unless all its addresses may be reached. */
export function guardedLookup(networks: Networks, resolve: LookupFunction): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      const addresses = Array.isArray(found) ? found : [];
      const [first] = addresses;
      if (error) return callback(error, '');
      if (!first || !addresses.every(({ address }) => networks.allows(address))) {
        return callback(new AddressNotAllowed(), '');
      }
      if (options.all) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}

/** The address that stands where a name could be; null when there is a name. */
export function addressIn(hostname: string): string | null {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1');
  return isIP(bare) === 0 ? null : bare;
}
