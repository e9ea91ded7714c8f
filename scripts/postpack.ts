/** Runs after `npm pack`: puts package.json back, byte for byte. Safe to run when there is none. */
import { existsSync, renameSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const original = `${root}package.json.orig`;

if (existsSync(original)) renameSync(original, `${root}package.json`);
