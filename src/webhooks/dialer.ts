import { isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { namesLookup } from './names.ts';
import type { Networks } from './networks.ts';

/**
 * Prevents server-side request forgery. The owner of a webhook chooses where this server sends
 * requests, and the server can reach what the owner cannot: the database, the cloud's metadata
 * service, internal machines. Checking the URL is not enough, because a name can resolve to
 * anything and change a moment later. So the check is made when dialing: the socket connects to
 * exactly the addresses that were checked, without a second lookup. One forbidden address refuses
 * them all. A literal address is never looked up, so it is checked separately; and the address of
 * the connected socket is checked once more.
 *
 * Connections are not reused: the next send dials, and is checked, again.
 */
export class AddressNotAllowed extends Error {
  override name = 'AddressNotAllowed';
  readonly code = 'ADDRESS_NOT_ALLOWED';

  constructor() {
    // Without the address: the caller might learn it only from here.
    super('the address is not allowed for webhooks');
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

/** Looks up a name and refuses it unless all its addresses are allowed. */
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

/** The literal address in a URL's host; null when it is a name. */
export function addressIn(hostname: string): string | null {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1');
  return isIP(bare) === 0 ? null : bare;
}
