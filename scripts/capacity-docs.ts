/**
 * Writes what the commands of docs/operate/capacity.md print below each of them: part of
 * `npm run docs`. `test/docs-blocks.test.ts` compares them.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const PAGE = fileURLToPath(new URL('../docs/operate/capacity.md', import.meta.url));
const PROGRAM = fileURLToPath(new URL('../bin/longshore.js', import.meta.url));

const page = readFileSync(PAGE, 'utf8').replaceAll(
  /(```sh\nlongshore (plan .*)\n```\n\n```\n)[^`]*(```)/g,
  (_, before: string, args: string, after: string) => {
    const printed = execFileSync(process.execPath, [PROGRAM, ...args.split(' ')], {
      encoding: 'utf8',
    });
    return `${before}${printed}${after}`;
  },
);
writeFileSync(PAGE, page);
