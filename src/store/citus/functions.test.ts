import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { piece, rendered } from '../connection/backend.ts';
import { distributedFunction } from '../connection/distributed-function.ts';
import { allFunctions } from './functions.ts';

const store = new URL('../', import.meta.url);

it('lists every file with a distributed function', () => {
  const files = readdirSync(store, { recursive: true, encoding: 'utf8' })
    .filter((name) => /(?<!\.test)\.ts$/.test(name) && !name.startsWith('connection/'))
    .filter((name) =>
      readFileSync(new URL(name, store), 'utf8').includes('= distributedFunction('),
    );
  const list = readFileSync(new URL('citus/functions.ts', store), 'utf8');
  const imported = [...list.matchAll(/^import '\.\.\/(.+)';$/gm)].map(([, name]) => name);
  expect(new Set(imported)).toEqual(new Set(files));
  expect(allFunctions.length).toBeGreaterThanOrEqual(files.length);
});

it('names a function by its content, so that two versions live side by side', () => {
  const parts = { name: 'f', args: 'p_shard smallint', returns: 'integer', body: 'begin end' };
  const [a, b] = [
    distributedFunction(parts),
    distributedFunction({ ...parts, body: 'begin  end' }),
  ];
  expect(a.name).toMatch(/^longshore\.f_[0-9a-f]{8}$/);
  expect(a.name).not.toBe(b.name);
  expect(() => distributedFunction({ ...parts, args: 'n integer' })).toThrow('p_shard');
});

it('renders pieces, also within pieces, and the time of Citus', () => {
  const text = `a ${piece('b', `c ${piece('d', 'e clock_timestamp()')}`)} f`;
  expect(rendered(text, 'postgres')).toBe('a b f');
  expect(rendered(text, 'citus')).toBe('a c e statement_timestamp() f');
});
