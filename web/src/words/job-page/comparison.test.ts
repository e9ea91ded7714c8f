import { expect, test } from 'vitest';
import type { AttemptView, StepView } from '../../../../src/core/views/history.ts';
import { ago, madeJob, madeWorker } from '../made.fixture.ts';
import { comparedFacts, comparedSteps, durationChange, type Run } from './comparison.ts';

const attempt = (claim: number, over: Partial<AttemptView> = {}): AttemptView => ({
  number: claim,
  claim,
  definitionVersion: 1,
  workerId: 'w',
  pid: 1,
  startedAt: ago(10),
  finishedAt: ago(9),
  durationMs: 1_000,
  exitCode: null,
  signal: null,
  peakRssBytes: null,
  cpuMs: null,
  error: null,
  outcome: 'succeeded',
  ...over,
});
const step = (name: string, claim: number, durationMs: number | null = 20): StepView => ({
  name,
  claim,
  at: ago(9),
  durationMs,
  value: null,
});
const run = (over: Partial<Run> = {}): Run => ({
  job: madeJob(),
  attempt: attempt(1),
  steps: [],
  worker: madeWorker(),
  ...over,
});

test('what differs is marked, except for what always does', () => {
  const error = { code: 'E', message: 'broke', stack: null, cause: null };
  const failed = attempt(2, {
    outcome: 'failed',
    error,
    durationMs: 50,
    definitionVersion: 2,
    signal: 'SIGKILL',
  });
  const facts = comparedFacts(run(), run({ attempt: failed }));
  expect(facts.filter(({ differs }) => differs).map(({ name, a, b }) => [name, a, b])).toEqual([
    ['Outcome', 'Succeeded', 'Failed'],
    ['Error', '–', 'E broke'],
    ['Version', '1', '2'],
    ['Process', '–', 'SIGKILL'],
  ]);
  expect(facts.find(({ name }) => name === 'Claim to end')).toMatchObject({ a: '1 s', b: '50 ms' });
  expect(facts.some(({ name }) => name === 'Tags')).toBe(false);
});

const wrapped = (message: string, cause: string) => {
  const inner = { code: 'HANDLER_ERROR', message: cause, stack: null, cause: null };
  return { code: 'HANDLER_ERROR', message, stack: null, cause: inner };
};

test.each([
  [
    'the same',
    'column "vat_id" does not exist',
    'the same error: HANDLER_ERROR order 1 was not imported ← column "vat_id" does not exist',
    false,
  ],
  ['another', 'no answer', 'HANDLER_ERROR order 1 was not imported ← no answer', true],
])('errors have their causes; %s cause', (_, cause, words, differs) => {
  const [a, b] = [
    wrapped('order 0 was not imported', 'column "vat_id" does not exist'),
    wrapped('order 1 was not imported', cause),
  ].map((error) => run({ attempt: attempt(1, { outcome: 'failed', error }) }));
  const facts = comparedFacts(a as Run, b as Run);
  expect(facts.find(({ name }) => name === 'Error')).toEqual({
    name: 'Error',
    a: 'HANDLER_ERROR order 0 was not imported ← column "vat_id" does not exist',
    b: words,
    differs,
  });
});

test('a job that never ran has the facts of the job', () => {
  const held = run({ job: madeJob({ status: 'cancelled' }), attempt: null, worker: undefined });
  expect(comparedFacts(run(), held)[0]).toMatchObject({ a: 'Succeeded', b: 'Cancelled' });
});

test('steps are compared by name; a later attempt reuses those of earlier ones', () => {
  const steps = [step('query', 1, 1_500), step('render', 2, null)];
  const [first, second] = [attempt(1), attempt(2)].map((one) => run({ attempt: one, steps }));
  expect(comparedSteps(first as Run, second as Run)).toEqual([
    { name: 'query', a: '1.5 s', b: 'reused' },
    { name: 'render', a: 'not stored', b: '–' },
  ]);
});

test.each([
  [1_000, 1_200, '200 ms more'],
  [1_000, 3_000, '2 s more (3.0 times)'],
  [3_000, 1_000, '2 s less'],
  [1, 1, null],
  [null, 1, null],
])('from %s to %s ms', (a, b, words) => expect(durationChange(a, b)).toBe(words));
