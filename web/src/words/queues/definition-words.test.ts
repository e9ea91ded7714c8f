import { expect, test } from 'vitest';
import {
  groupNotice,
  groupWords,
  isolationWords,
  memoryWords,
  retryWords,
} from './definition-words.ts';
import { madeDefinition, madeWorker } from '../made.fixture.ts';

test.each([
  [{}, 'after 1 s, doubling up to 1m'],
  [{ retry: { delaysMs: [0, 5_000], jitter: 0 } }, 'at once, then after 5 s'],
  [{ maxAttempts: 1 }, 'No retries'],
])('%j is tried again %s', (over, words) => {
  expect(retryWords(madeDefinition(over))).toBe(words);
});

test('a definition says how its jobs are grouped', () => {
  expect(groupWords(madeDefinition({}))).toBeNull();
  expect(groupWords(madeDefinition({ group: { size: 100, waitMs: 200 } }))).toBe(
    'up to 100 jobs in one call; the first waits up to 200 ms',
  );
});

test('a definition says which worker keeps its groups small', () => {
  const definition = madeDefinition({ group: { size: 100, waitMs: 200 } });
  const serving = { definitions: [`${definition.key}@${definition.version}`] };
  const workers = [madeWorker({ ...serving, slots: 8 }), madeWorker({ ...serving, slots: 4 })];
  expect(groupNotice(definition, workers)).toMatch(/^size is 100, its largest worker has 8 slots/);
  expect(groupNotice(definition, [madeWorker({ ...serving, slots: 100 })])).toBeNull();
  expect(groupNotice(definition, [])).toBeNull();
  expect(groupNotice(madeDefinition({}), workers)).toBeNull();
});

test('a program is named', () => {
  expect(isolationWords(madeDefinition({ command: ['python3', 'x.py'] }))).toBe(
    'the program python3 x.py',
  );
});

test.each([
  [{ memoryMb: 256 }, '256 MiB'],
  [{ memoryMb: 0 }, 'no limit'],
  [{ memoryMb: null }, 'default of the worker (512 MiB unless configured)'],
  [{ memoryMb: null, isolation: 'thread' }, '256 MiB, the default of a thread'],
  [
    { memoryMb: null, isolation: 'inline' },
    'no limit of its own: it uses the memory of the worker',
  ],
] as const)('the memory of %j is %s', (over, words) => {
  expect(memoryWords(madeDefinition(over))).toBe(words);
});
