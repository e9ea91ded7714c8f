import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { scaffold } from '../scaffold.ts';
import { startCommand } from './start-command.ts';

function folderWith(manifest: string | undefined): string {
  const folder = mkdtempSync(join(tmpdir(), 'longshore-start-command-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  if (manifest !== undefined) writeFileSync(join(folder, 'package.json'), manifest);
  return folder;
}

it('is the npm script of the folder', () => {
  expect(startCommand(folderWith(scaffold('my-jobs')['package.json']))).toBe('`npm run dev`');
  // The checkout, whose jobs are not in ./jobs.
  const checkout = fileURLToPath(new URL('../../../', import.meta.url));
  expect(startCommand(checkout)).toBe('`npm start`');
});

it.each([undefined, 'no JSON', '{}', '{"scripts":{"dev":"vite","start":"node server.js"}}'])(
  'is npx where package.json is %j',
  (manifest) => {
    expect(startCommand(folderWith(manifest))).toBe('`npx longshore start`');
  },
);
