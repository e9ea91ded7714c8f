import { startCommand } from './start-command.ts';

export { findAddress, leaveAddress } from '../../config/left-address.ts';

/** No server of this project runs. */
export class ServerNotUp extends Error {
  override name = 'ServerNotUp';

  constructor(dataDir: string, folder: string) {
    super(
      `the server of this folder is not running (its data is in ${dataDir}): start it with ` +
        `${startCommand(folder)}, or name another server with --url or LONGSHORE_URL`,
    );
  }
}
