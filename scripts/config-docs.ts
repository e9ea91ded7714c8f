/** Writes docs/configuration.md from the table in src/config/schema.ts. */
import { writeFileSync } from 'node:fs';
import { configurationPage } from '../src/config/page.ts';

const page = new URL('../docs/configuration.md', import.meta.url);
writeFileSync(page, configurationPage());
console.log('wrote docs/configuration.md');
