import type { LookupFunction } from 'node:net';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { addressIn, AddressNotAllowed, guardedLookup } from './address-guard.ts';
import { namesLookup } from './names.ts';
import type { Networks } from './networks.ts';

const CONNECT_MS = 10_000;

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
