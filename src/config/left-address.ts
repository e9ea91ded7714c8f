import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * A server with its own PostgreSQL leaves its address in its data folder, so that commands in the same
 * project find it on any port. Only an address of this machine is believed: commands send their key there.
 */
const LOCAL = /^http:\/\/(127\.0\.0\.1|\[::1\]|localhost):\d{1,5}$/;

/** Stores the address; returns what removes it again. */
export function leaveAddress(dataDir: string, address: string): () => void {
  const file = fileIn(dataDir);
  try {
    writeFileSync(file, `${address}\n`);
  } catch {
    return () => undefined; // A folder that cannot be written to: commands use --url.
  }
  return () => {
    // Another server may have been started here in the meantime.
    if (findAddress(dataDir) === address) rmSync(file, { force: true });
  };
}

/** The address that a running or killed server left; null if there is none. */
export function findAddress(dataDir: string): string | null {
  try {
    const address = readFileSync(fileIn(dataDir), 'utf8').trim();
    return LOCAL.test(address) ? address : null;
  } catch {
    return null;
  }
}

function fileIn(dataDir: string): string {
  return join(dataDir, 'address');
}
