import { describe, expect, test } from 'vitest';
import {
  ambientReads,
  importCycles,
  impureReads,
  longFiles,
  nonErasable,
  strayStatements,
} from './support/checks/source-rules.ts';
import { parse } from './support/checks/source-tree.ts';

/**
 * The rules behind `architecture.test.ts`, each shown made-up files, `{ path: source }`: it must see
 * what is wrong with them, and only that. The rule of imports is tested beside its table.
 */
const sources = (files: Record<string, string>) =>
  Object.entries(files).map(([path, source]) => parse({ path, source }));
const one = (path: string, source: string) => sources({ [path]: source });

describe('the rule of cycles', () => {
  test.each([
    [
      'two files',
      { 'a.ts': "import './b.ts';", 'b.ts': "import './a.ts';" },
      'a.ts -> b.ts -> a.ts',
    ],
    [
      'three, entered from outside',
      {
        'x.ts': "import './a.ts';",
        'a.ts': "import './b.ts';",
        'b.ts': "export * from './c.ts';",
        'c.ts': "import('./a.ts');",
      },
      'a.ts -> b.ts -> c.ts -> a.ts',
    ],
    ['a file that imports itself', { 'a.ts': "import './a.ts';" }, 'a.ts -> a.ts'],
    [
      'inline types, whose module is loaded',
      { 'a.ts': "import { type B } from './b.ts';", 'b.ts': "import './a.ts';" },
      'a.ts -> b.ts -> a.ts',
    ],
  ])('sees %s', (_, files, cycle) => {
    expect(importCycles(sources(files))).toEqual([`${cycle} is an import cycle`]);
  });

  test('leaves a diamond and a cycle of types alone', () => {
    const files = {
      'a.ts': "import './b.ts'; import './c.ts';",
      'b.ts': "import './d.ts';",
      'c.ts': "import './d.ts';",
      'd.ts': "import type { A } from './a.ts'; export type { C } from './c.ts';",
    };
    expect(importCycles(sources(files))).toEqual([]);
  });
});

test('the rule of length counts to the line', () => {
  const files = sources({ 'a.ts': '//\n'.repeat(400), 'b.ts': '//\n'.repeat(401) });
  expect(longFiles(files, 400)).toEqual(['b.ts has 401 lines, more than 400']);
});

describe('the rule of SQL', () => {
  test.each([
    ["'select 1 from longshore.job'"],
    ['`SELECT *\n  FROM ${table}`'],
    ["'insert into a values (1)'"],
    ['`update ${table} set x = 1`'],
    ["'delete from a'"],
    ["'create unlogged table a (b int)'"],
    ["'create table a (b int)'"],
  ])('sees %s', (text) => {
    const files = one('src/http/a.ts', `\nconst text = ${text};`);
    expect(strayStatements(files, ['src/store/'])).toEqual(['src/http/a.ts:2 holds SQL']);
    expect(strayStatements(one('src/store/a.ts', `f(${text});`), ['src/store/'])).toEqual([]);
  });

  test.each(['// select a from b', "'select a job, then press x'", "'the update failed'"])(
    'leaves %s alone',
    (source) => expect(strayStatements(one('src/http/a.ts', source), ['src/store/'])).toEqual([]),
  );
});

describe('the rule of environment and clock', () => {
  test.each([
    ['process.env', 'const url = process.env.DATABASE_URL;'],
    ['process.env', "const url = process['env']['DATABASE_URL'];"],
    ['process.env', 'const { env } = process;'],
    ['process.env', 'f(globalThis.process.env);'],
    ['process.env', "import { env } from 'node:process';"],
    ['Date.now', 'const clock = Date.now;'],
    ['Date.now', 'f(Date.now());'],
    ['new Date()', 'const at = new Date();'],
  ])('sees %s in %s', (what, source) => {
    const at = 'src/worker/a.ts';
    expect(ambientReads(one(at, source), ['src/runtime/'])).toEqual([`${at}:1 reads ${what}`]);
    expect(ambientReads(one('src/runtime/a.ts', source), ['src/runtime/'])).toEqual([]);
  });

  test.each(['new Date(0)', 'process.pid', 'job.env', "'process.env'", '// Date.now()'])(
    'leaves %s alone',
    (source) => expect(ambientReads(one('src/worker/a.ts', source), ['src/runtime/'])).toEqual([]),
  );

  test.each(['Math.random', 'performance.now', 'crypto.randomUUID', 'Date.now'])(
    'sees %s where all must be pure',
    (name) => {
      const words = [`src/core/a.ts:1 reads ${name}`];
      expect(impureReads(one('src/core/a.ts', `${name}();`), ['src/core/'])).toEqual(words);
      expect(impureReads(one('src/store/a.ts', `${name}();`), ['src/core/'])).toEqual([]);
    },
  );
});

test.each([
  ['an enum', 'export enum Colour { Red }'],
  ['an enum', 'const enum Colour { Red }'],
  ['a parameter property', 'class A { constructor(readonly b: number) {} }'],
  ['a parameter property', 'class A { constructor(private b = 1) {} }'],
])('the rule of erasing sees %s in %s', (what, source) => {
  expect(nonErasable(one('a.ts', source))).toEqual([`a.ts:1 uses ${what}`]);
});
