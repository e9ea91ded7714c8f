import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_ROOT } from './runtime/code.ts';

const packageJson = readFileSync(join(PACKAGE_ROOT, 'package.json'), 'utf8');

export const VERSION = (JSON.parse(packageJson) as { version: string }).version;
