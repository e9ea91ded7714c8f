import { readFileSync } from 'node:fs';
import { expect, it, test } from 'vitest';
import { INVARIANTS } from '../check/invariants.ts';
import { planFaults } from '../plan.ts';
import { Random } from '../random.ts';
import { MUTANTS, mutantOf } from './catalogue.ts';

test.each(MUTANTS)('$name changes what is really there', ({ changes }) => {
  for (const { file, find, replace } of changes) {
    const source = readFileSync(new URL(`../../src/${file}`, import.meta.url), 'utf8');
    expect(source.split(find), `${file} must hold this once: ${find}`).toHaveLength(2);
    expect(replace).not.toBe(find);
  }
});

test.each(MUTANTS)('$name names faults and invariants that exist', ({ deck, caughtBy }) => {
  const ids = INVARIANTS.map(({ id }) => id);
  for (const id of caughtBy) expect(ids).toContain(id);
  expect(planFaults(deck, 1_000, new Random('1')).length).toBeGreaterThan(0);
});

it('says which mutant may be meant', () => {
  expect(() => mutantOf('unfenced-settle-and-clam')).toThrow('unfenced-settle-and-claim');
});
