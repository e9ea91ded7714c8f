/** Writes the tables of docs/reliability.md from what chaos/ checks, injects and breaks. */
import { readFileSync, writeFileSync } from 'node:fs';
import { RELIABILITY_TABLES } from '../chaos/tables.ts';

const page = new URL('../docs/reliability.md', import.meta.url);
let text = readFileSync(page, 'utf8');
for (const { head, rows } of RELIABILITY_TABLES) {
  const [before, after] = text.split(`${head}\n`);
  if (after === undefined) throw new Error(`docs/reliability.md has no table that begins ${head}`);
  const rest = after.slice(after.indexOf('\n\n'));
  text = `${before}${head}\n${rows.join('\n')}${rest}`;
}
writeFileSync(page, text);
console.log('wrote the tables of docs/reliability.md');
