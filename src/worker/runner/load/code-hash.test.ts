import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { codeHash, type LoadedModules } from './code-hash.ts';

const PACKAGE = 'file:///app/node_modules/zod/index.js';

/** The hash of `a.ts`, which imports `lib/b.ts` and a package; `lib/b.ts` imports `a.ts` again. */
function hashOf(files: Record<'a.ts' | 'lib/b.ts' | 'other.ts', string>): string | null {
  const folder = mkdtempSync(join(tmpdir(), 'longshore-hash-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'lib'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const url = (name: string) => pathToFileURL(join(folder, name)).href;
  const modules: LoadedModules = {
    imports: new Map([
      [url('a.ts'), new Set([url('lib/b.ts'), PACKAGE, 'node:fs'])],
      [url('lib/b.ts'), new Set([url('a.ts')])],
      [PACKAGE, new Set([url('other.ts')])],
    ]),
    sources: new Map(),
  };
  return codeHash(url('a.ts'), modules);
}

const FILES = { 'a.ts': 'a', 'lib/b.ts': 'b', 'other.ts': 'c' };

test('follows from the contents of a file and of what it imports, wherever they are', () => {
  expect(hashOf(FILES)).toMatch(/^[0-9a-f]{32}$/);
  expect(hashOf(FILES)).toBe(hashOf({ ...FILES, 'other.ts': 'changed' }));
  expect(hashOf(FILES)).not.toBe(hashOf({ ...FILES, 'a.ts': 'changed' }));
  expect(hashOf(FILES)).not.toBe(hashOf({ ...FILES, 'lib/b.ts': 'changed' }));
});

test('the source that was loaded counts, not what the file has become since', () => {
  const url = 'file:///gone/a.ts';
  const modules = { imports: new Map<string, Set<string>>(), sources: new Map([[url, 'a']]) };
  expect(codeHash(url, modules)).toMatch(/^[0-9a-f]{32}$/);
  expect(codeHash(url, { ...modules, sources: new Map() })).toBeNull();
});
