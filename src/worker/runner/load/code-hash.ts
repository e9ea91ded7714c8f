import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The modules that a process has loaded: what each imports, and its source where Node said it. */
export interface LoadedModules {
  imports: Map<string, Set<string>>;
  sources: Map<string, string>;
}

/** Code of the user, not of a package or of Node. */
export function isOwnCode(url: string): boolean {
  return url.startsWith('file:') && !url.includes('/node_modules/');
}

/**
 * A hash of a file and of all that it imports, without packages. It follows from the contents alone,
 * so the same code has the same hash in another folder and on another machine. Null if a file cannot
 * be read.
 */
export function codeHash(entry: string, { imports, sources }: LoadedModules): string | null {
  const urls = new Set([entry]);
  for (const url of urls) {
    for (const imported of imports.get(url) ?? []) if (isOwnCode(imported)) urls.add(imported);
  }
  try {
    const hashes = [...urls].map((url) =>
      sha256(sources.get(url) ?? readFileSync(fileURLToPath(url))),
    );
    return sha256(hashes.sort().join()).slice(0, 32);
  } catch {
    return null;
  }
}

function sha256(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}
