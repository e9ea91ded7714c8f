import { expect, test } from 'vitest';
import { madeHeld, madeWorker } from '../made.fixture.ts';
import { slotsWords } from './slots-words.ts';

const job = (tenant: string) => madeHeld({ tenant });

test.each([
  ['own jobs only', [job('default')], 1, 'of 4 slots'],
  ['jobs of others that are listed', [job('default'), job('acme')], 2, 'here; 2 of 4 slots busy'],
  ['jobs of others that are not', [job('default')], 4, 'here; 4 of 4 slots busy'],
])('%s', (_, jobs, busy, words) => {
  expect(slotsWords([madeWorker({ jobs, busy })], 'default')).toBe(words);
});
