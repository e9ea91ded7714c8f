import { expect, it } from 'vitest';
import { isDefinitionFile } from './definition-file.ts';

it.each([
  ['a.ts', true],
  ['deep/a.mjs', true],
  ['a.js', true],
  ['deep\\a.mts', true],
  ['a.json', false],
  ['a.py', false],
  ['a.d.ts', false],
  ['a.test.ts', false],
  ['deep/a.spec.js', false],
  ['_helper.ts', false],
  ['deep/_helper/a.ts', false],
  ['.hidden/a.ts', false],
  ['node_modules/a/index.js', false],
])('%s: %s', (path, is) => expect(isDefinitionFile(path)).toBe(is));
