import { isIP, type LookupFunction } from 'node:net';
import type { Networks } from './networks.ts';

/** What the dialer refuses (`dialer.ts`), for those who need not dial. */
export class AddressNotAllowed extends Error {
  override name = 'AddressNotAllowed';
  readonly code = 'ADDRESS_NOT_ALLOWED';

  constructor() {
    // Without the address: the caller might learn it only from here.
    super('the address is not allowed for webhooks');
  }
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
