import { readFileSync } from 'node:fs';

// package.json is one folder up, from `src` and from `dist` alike.
const packageJson = readFileSync(new URL('../package.json', import.meta.url), 'utf8');

export const VERSION = (JSON.parse(packageJson) as { version: string }).version;
