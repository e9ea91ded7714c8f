import { readFileSync } from 'node:fs';

/** package.json is two folders up, from `src/cli` and from `dist/cli` alike. */
export function version(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
