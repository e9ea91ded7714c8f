import { expect, test } from 'vitest';
import type { DefinitionScale, ScaleView } from '../../../../src/core/views/scale.ts';
import { scaleWords } from './scale-words.ts';

const lone = { key: 'lone', waiting: 4, slots: 0 } as DefinitionScale;
const served = { key: 'hello', waiting: 4, slots: 8 } as DefinitionScale;

test.each([
  [17, true, served, 'The load (2 running, 4 queued) needs 17 slots; active workers have 8.'],
  [
    1,
    false,
    lone,
    'The load of your tenant (2 running, 4 queued) needs 1 slot; active workers have 8. No active worker has lone, for which jobs are queued.',
  ],
])('%i wanted', (wantedSlots, allTenants, definition, words) => {
  const scale = { wantedSlots, slots: 8, allTenants, running: 2, waiting: 4, limited: [] };
  expect(scaleWords({ ...scale, definitions: [definition] } as unknown as ScaleView)).toBe(words);
});

test('names the limit that holds jobs back', () => {
  const limited = [{ of: 'tenant', name: 'acme', concurrencyLimit: 1, waiting: 321 }];
  const scale = { wantedSlots: 8, slots: 8, allTenants: true, running: 8, waiting: 400, limited };
  expect(scaleWords({ ...scale, definitions: [served] } as unknown as ScaleView)).toBe(
    'The load (8 running, 400 queued) needs 8 slots; active workers have 8. ' +
      '321 jobs wait for the limit of tenant acme; more slots do not help.',
  );
});
