import { expect, test } from 'vitest';
import type { JobView } from '../../../../src/core/job/job.ts';
import type {
  AttemptView,
  EventType,
  EventView,
  StepView,
} from '../../../../src/core/views/history.ts';
import { ago, madeJob, NOW } from '../made.fixture.ts';
import {
  entriesOf,
  type History,
  outcomeWords,
  packed,
  timelineOf,
  totalWords,
} from './timeline.ts';

const attempt = (number: number, from: number, to: number | null, over: object = {}) =>
  ({
    number,
    claim: number,
    startedAt: ago(from),
    finishedAt: to === null ? null : ago(to),
    error: null,
    outcome: null,
    ...over,
  }) as AttemptView;
const event = (type: EventType, at: number, over: Partial<EventView> = {}): EventView => ({
  id: `${type} ${at}`,
  type,
  at: ago(at),
  attempt: 1,
  payload: null,
  ...over,
});
const step = (name: string, claim: number, at: number, durationMs: number | null): StepView => ({
  name,
  claim,
  at: ago(at),
  durationMs,
  value: 1,
});
const drawn = (job: Partial<JobView>, history: Partial<History>) =>
  timelineOf(madeJob(job), { attempts: [], steps: [], events: [], ...history }, NOW);
const seconds = (ms: number) => (ms - NOW.getTime()) / 1_000;
const told = (timeline: ReturnType<typeof drawn>) =>
  entriesOf(timeline).map(
    ({ title, fromMs, toMs, open }) =>
      `${title} ${seconds(fromMs)} to ${seconds(toMs)}${open ? ' open' : ''}`,
  );

const error = { code: 'HANDLER_ERROR', message: 'no', stack: null, cause: null };
const RETRIED: History = {
  attempts: [
    attempt(1, 90, 80, { outcome: 'retrying', error }),
    attempt(2, 38, 20, { outcome: 'succeeded' }),
  ],
  steps: [step('query', 1, 82, 5_000), step('sleep:1', 1, 81, 0), step('render', 2, 22, null)],
  events: [
    event('created', 100, { attempt: null }),
    event('queued', 95),
    event('started', 90),
    event('custom', 85, { payload: { type: 'half' } }),
    event('retry_scheduled', 80),
    event('queued', 40),
    event('started', 38),
    event('succeeded', 20),
  ],
};

test('waits, attempts, steps and events share one axis', () => {
  const timeline = drawn({ status: 'succeeded', createdAt: ago(100) }, RETRIED);
  expect(told(timeline)).toEqual([
    'Held or scheduled -100 to -95',
    'Queued -95 to -90',
    'Attempt 1 -90 to -80',
    'query -87 to -82',
    'half -85 to -85',
    'Waiting for the retry -80 to -40',
    'Queued -40 to -38',
    'Attempt 2 -38 to -20',
    'render -22 to -22',
  ]);
  expect([timeline.fromMs, timeline.toMs].map(seconds)).toEqual([-100, -20]);
  expect(timeline.nowMs).toBeNull();
  expect(timeline.rows.map(({ label, inner }) => (inner ? `> ${label}` : label))).toEqual([
    'Waiting',
    'Attempt 1',
    '> query',
    'Attempt 2',
    '> render',
    'Events',
  ]);
  const [first, second] = entriesOf(timeline).filter(({ kind }) => kind === 'attempt');
  expect([first?.tone, first?.detail]).toEqual(['failed', 'Failed, retried: HANDLER_ERROR']);
  expect([second?.tone, second?.detail]).toEqual(['good', 'Succeeded']);
});

test('what goes on ends now, a wait for a time at that time', () => {
  const events = [event('created', 9), event('queued', 9), event('started', 5)];
  const running = drawn({ status: 'running' }, { events, attempts: [attempt(1, 5, null)] });
  expect(told(running)).toContain('Attempt 1 -5 to 0 open');
  const retrying = drawn(
    { status: 'retrying', runAt: ago(-30) },
    { events: [event('retry_scheduled', 4)] },
  );
  expect(told(retrying)).toEqual(['Waiting for the retry -4 to 30 open']);
  expect([seconds(retrying.toMs), seconds(retrying.nowMs ?? 0)]).toEqual([30, 0]);
  expect(told(drawn({ status: 'suspended' }, { events: [event('suspended', 7)] }))).toEqual([
    'Waiting for a signal -7 to 0 open',
  ]);
  expect(told(drawn({ status: 'queued' }, { events: [event('queued', 3)] }))).toEqual([
    'Queued -3 to 0 open',
  ]);
  expect(told(drawn({ status: 'created' }, { events: [event('created', 60)] }))).toEqual([
    'Held -60 to 0 open',
  ]);
});

test('the time between an end and a retry by hand is no wait', () => {
  const events = [
    event('failed', 50),
    event('retry_scheduled', 10, { attempt: null, payload: { mode: 'now' } }),
    event('queued', 10),
    event('cancelled', 8),
  ];
  expect(told(drawn({ status: 'cancelled', createdAt: ago(60) }, { events }))).toEqual([
    'Queued -10 to -8',
    'retry scheduled -10 to -10',
  ]);
});

test('without the later events, the time between attempts is a wait', () => {
  const attempts = [attempt(1, 90, 80), attempt(2, 40, 20), attempt(3, 20, 10)];
  const events = [event('queued', 95), event('started', 90)];
  expect(told(drawn({ status: 'failed', createdAt: ago(95) }, { attempts, events }))).toEqual([
    'Queued -95 to -90',
    'Attempt 1 -90 to -80',
    'Between attempts -80 to -40',
    'Attempt 2 -40 to -20',
    'Attempt 3 -20 to -10',
  ]);
});

test('a step begins at the earliest with its attempt, whatever its clock said', () => {
  const attempts = [attempt(1, 10, 5)];
  const timeline = drawn({ status: 'failed' }, { attempts, steps: [step('s', 1, 6, 60_000)] });
  expect(told(timeline)).toContain('s -10 to -6');
});

test('many attempts and many steps share rows', () => {
  const attempts = Array.from({ length: 20 }, (_, n) => attempt(n + 1, 100 - n, 99.5 - n));
  const steps = Array.from({ length: 60 }, (_, n) => step(`s${n}`, 1, 99.9 - n / 1_000, 1));
  const events = [event('failed', 1)];
  const { rows } = drawn({ status: 'failed' }, { attempts, steps, events });
  expect(rows.map(({ label }) => label)).toEqual(['Attempts', 'Steps']);
  expect(rows.map(({ entries }) => entries.length)).toEqual([20, 60]);
});

test('steps that overlap are in different rows', () => {
  const steps = [step('a', 1, 5, 4_000), step('b', 1, 4, 2_000), step('c', 1, 2, 1_000)];
  const entries = drawn({ status: 'failed' }, { attempts: [attempt(1, 10, 1)], steps });
  const inner = entries.rows.flatMap((one) => (one.inner ? one.entries : []));
  expect(packed(inner).map((track) => track.map(({ title }) => title))).toEqual([
    ['a', 'c'],
    ['b'],
  ]);
});

test.each([
  [null, 'Running'],
  ['succeeded', 'Succeeded'],
  ['cancelled', 'Cancelled'],
  ['queued', 'Requeued'],
  ['scheduled', 'Snoozed'],
  ['retrying', 'Failed, retried'],
  ['suspended', 'Suspended'],
] as const)('an attempt whose outcome is %s is shown as %s', (outcome, words) => {
  expect(outcomeWords({ outcome })).toBe(words);
});

test('the total time of a job is named, since an attempt has a shorter one', () => {
  const times = { createdAt: ago(90), startedAt: ago(30), finishedAt: ago(10) };
  const ended = timelineOf(
    madeJob({ status: 'succeeded', ...times }),
    { attempts: [attempt(1, 30, 10)], steps: [], events: [] },
    NOW,
  );
  expect(totalWords(ended)).toBe('1m20s from creation to end');
  const open = timelineOf(
    madeJob({ status: 'queued', createdAt: ago(90) }),
    { attempts: [], steps: [], events: [] },
    NOW,
  );
  expect(totalWords(open)).toBe('1m30s since creation');
});

const stepEvent = (claim: number, at: number, name: string, state: string) =>
  event('step', at, { id: `${claim}-2-0`, payload: { step: name, state } });
const stepsDrawn = (timeline: ReturnType<typeof drawn>) =>
  entriesOf(timeline)
    .filter(({ kind }) => kind === 'step')
    .map(
      ({ title, tone, detail, fromMs, toMs, open }) =>
        `${title} ${tone} ${seconds(fromMs)} to ${seconds(toMs)}${open ? ' open' : ''}: ${detail}`,
    );

test('the step that an attempt failed in is a red bar', () => {
  const step = { name: 'render', durationMs: 4_000, untilEndMs: 5_000 };
  const attempts = [
    attempt(1, 90, 80, { outcome: 'retrying', error: { ...error, step } }),
    attempt(2, 38, 20, { outcome: 'succeeded' }),
  ];
  const stored = [{ name: 'render', claim: 2, at: ago(22), durationMs: 1_000, value: 1 }];
  // Its event is the same step.
  const events = [stepEvent(1, 85, 'render', 'started')];
  const timeline = drawn({ status: 'succeeded' }, { attempts, steps: stored, events });
  expect(stepsDrawn(timeline)).toEqual([
    'render failed -85 to -81: Failed step, attempt 1',
    'render step -23 to -22: Step of attempt 2',
  ]);
  expect(timeline.rows.map(({ label }) => label)).toEqual([
    'Waiting',
    'Attempt 1',
    'render',
    'Attempt 2',
    'render',
  ]);
});

test('a step that ran beside the one that failed has not ended', () => {
  const step = { name: 'render', durationMs: 4_000, untilEndMs: 5_000 };
  const attempts = [attempt(1, 90, 80, { outcome: 'retrying', error: { ...error, step } })];
  const events = [stepEvent(1, 84, 'send', 'started')];
  expect(stepsDrawn(drawn({ status: 'retrying' }, { attempts, events }))).toEqual([
    'render failed -85 to -81: Failed step, attempt 1',
    'send stopped -84 to -80: Step not ended, attempt 1',
  ]);
});

test('a step that runs is open, and ends with a lost attempt', () => {
  const events = [
    stepEvent(1, 85, 'render', 'started'),
    stepEvent(2, 8, 'caught', 'started'),
    stepEvent(2, 6, 'caught', 'failed'),
    stepEvent(2, 4, 'send', 'started'),
  ];
  const attempts = [attempt(1, 90, 80, { outcome: 'queued', error }), attempt(2, 9, null)];
  expect(stepsDrawn(drawn({ status: 'running' }, { attempts, events }))).toEqual([
    'render failed -85 to -80: Failed step, attempt 1',
    'caught failed -8 to -6: Failed step, attempt 2',
    'send running -4 to 0 open: Running step, attempt 2',
  ]);
});
