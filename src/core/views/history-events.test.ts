import { describe, expect, it } from 'vitest';
import { failureOf } from '../failure/failure.ts';
import { parsePosition } from './history-position.ts';
import {
  type AttemptRecord,
  type HookJob,
  emittedAfter,
  type EmittedEvent,
  type HistoryRows,
  buildHistory,
} from './history-events.ts';

const at = (second: number) => `2026-01-01T00:00:${String(second).padStart(2, '0')}.123456+00:00`;
const iso = (second: number) => `2026-01-01T00:00:${String(second).padStart(2, '0')}.123Z`;

const WAITS: AttemptRecord = {
  claim: 1,
  attempt: null,
  workerId: null,
  queuedAt: at(1),
  startedAt: null,
  cancelRequestedAt: null,
  cancelRequestedBy: null,
  finishedAt: null,
  next: null,
  runAt: null,
  waitsFor: null,
  error: null,
  retried: null,
};
const RUNS: AttemptRecord = { ...WAITS, attempt: 1, workerId: 'w', startedAt: at(2) };
const ended = (
  next: AttemptRecord['next'],
  changes: Partial<AttemptRecord> = {},
): AttemptRecord => {
  return { ...RUNS, finishedAt: at(9), next, ...changes };
};
const emitted = (n: number, changes: Partial<EmittedEvent> = {}): EmittedEvent => {
  const event = { claim: 1, n, attempt: 1, type: 'custom', cancelling: false } as const;
  return { ...event, at: at(3), payload: { n }, ...changes };
};
const hook = (changes: Partial<HookJob> = {}): HookJob => ({
  jobId: 'h',
  hook: 'onEnd',
  madeAt: at(9),
  status: 'succeeded',
  finishedAt: at(10),
  error: null,
  emitted: [],
  ...changes,
});

const rows = (changes: Partial<HistoryRows>): HistoryRows => {
  return { createdAt: at(0), attempts: [], emitted: [], hooks: [], ...changes };
};
const LOST = failureOf('LEASE_EXPIRED', 'gone');
const INTERRUPTED = failureOf('INTERRUPTED', 'deploy');
const BROKEN = failureOf('HANDLER_ERROR', 'boom');

/** Each event as one line: where, what, in which attempt. */
const eventsOf = (history: HistoryRows, afterId: string | null = null, limit = 100) => {
  const after = afterId === null ? null : parsePosition(afterId);
  return buildHistory(history, after, limit).events.map(
    ({ id, type, attempt }) => `${id} ${type}${attempt === null ? '' : ` of ${attempt}`}`,
  );
};

const HISTORIES: [name: string, history: Partial<HistoryRows>, eventsOf: string[]][] = [
  ['held or scheduled', { attempts: [{ ...WAITS, queuedAt: null }] }, []],
  ['queued', { attempts: [WAITS] }, ['1-0-0 queued']],
  ['running', { attempts: [RUNS] }, ['1-0-0 queued', '1-1-0 started of 1']],
  [
    'running and telling',
    { attempts: [RUNS], emitted: [emitted(0, { type: 'progress' }), emitted(1)] },
    ['1-0-0 queued', '1-1-0 started of 1', '1-2-0 progress of 1', '1-2-1 custom of 1'],
  ],
  [
    'cancelling, and telling before and after',
    {
      attempts: [{ ...RUNS, cancelRequestedAt: at(4) }],
      emitted: [emitted(0), emitted(1, { cancelling: true })],
    },
    [
      '1-0-0 queued',
      '1-1-0 started of 1',
      '1-2-0 custom of 1',
      '1-3-0 cancel_requested of 1',
      '1-4-1 custom of 1',
    ],
  ],
  [
    'succeeded',
    { attempts: [ended('succeeded')] },
    ['1-0-0 queued', '1-1-0 started of 1', '1-6-0 succeeded of 1'],
  ],
  [
    'failed for good',
    { attempts: [ended('failed', { error: BROKEN })] },
    ['1-0-0 queued', '1-1-0 started of 1', '1-6-0 failed of 1'],
  ],
  [
    'cancelled while it ran',
    { attempts: [ended('cancelled', { cancelRequestedAt: at(4) })] },
    ['1-0-0 queued', '1-1-0 started of 1', '1-3-0 cancel_requested of 1', '1-6-0 cancelled of 1'],
  ],
  [
    'cancelled while it waited in line',
    {
      attempts: [{ ...WAITS, cancelRequestedAt: at(4), finishedAt: at(4), next: 'cancelled' }],
    },
    ['1-0-0 queued', '1-3-0 cancel_requested', '1-6-0 cancelled'],
  ],
  [
    'waiting for its retry',
    {
      attempts: [
        ended('retrying', { error: BROKEN, runAt: at(20) }),
        { ...WAITS, claim: 2, queuedAt: null },
      ],
    },
    ['1-0-0 queued', '1-1-0 started of 1', '1-5-0 retry_scheduled of 1'],
  ],
  [
    'queued again for its retry',
    { attempts: [ended('retrying', { error: BROKEN }), { ...WAITS, claim: 2, queuedAt: at(20) }] },
    ['1-0-0 queued', '1-1-0 started of 1', '1-5-0 retry_scheduled of 1', '2-0-0 queued'],
  ],
  [
    'lost with its worker, then running again',
    {
      attempts: [
        { ...RUNS, claim: 2, attempt: 2, queuedAt: at(9), startedAt: at(10) },
        ended('queued', { error: LOST }),
      ],
    },
    [
      '1-0-0 queued',
      '1-1-0 started of 1',
      '1-5-0 lease_lost of 1',
      '2-0-0 queued',
      '2-1-0 started of 2',
    ],
  ],
  [
    'lost with its worker once too often',
    { attempts: [ended('failed', { error: LOST })] },
    ['1-0-0 queued', '1-1-0 started of 1', '1-5-0 lease_lost of 1', '1-6-0 failed of 1'],
  ],
  [
    'interrupted',
    { attempts: [ended('queued', { error: INTERRUPTED }), { ...WAITS, claim: 2 }] },
    ['1-0-0 queued', '1-1-0 started of 1', '1-5-0 interrupted of 1', '2-0-0 queued'],
  ],
  [
    'interrupted once too often',
    { attempts: [ended('failed', { error: INTERRUPTED })] },
    ['1-0-0 queued', '1-1-0 started of 1', '1-5-0 interrupted of 1', '1-6-0 failed of 1'],
  ],
  [
    'snoozing',
    { attempts: [ended('scheduled', { runAt: at(30) })] },
    ['1-0-0 queued', '1-1-0 started of 1', '1-5-0 snoozed of 1'],
  ],
  [
    'ended with hooks, in their order',
    {
      attempts: [ended('succeeded')],
      hooks: [hook(), hook({ hook: 'onSuccess', finishedAt: at(12) })],
    },
    [
      '1-0-0 queued',
      '1-1-0 started of 1',
      '1-6-0 succeeded of 1',
      '1-7-1999 hook',
      '1-7-3999 hook',
    ],
  ],
  [
    'ended, and the first hook still runs',
    {
      attempts: [ended('succeeded')],
      hooks: [hook(), hook({ hook: 'onSuccess', status: null, finishedAt: null })],
    },
    ['1-0-0 queued', '1-1-0 started of 1', '1-6-0 succeeded of 1'],
  ],
  [
    'ended twice, each end with its hook',
    {
      attempts: [
        ended('failed', { error: BROKEN }),
        ended('succeeded', { claim: 2, finishedAt: at(30) }),
      ],
      hooks: [hook({ madeAt: at(30) }), hook()],
    },
    [
      '1-0-0 queued',
      '1-1-0 started of 1',
      '1-6-0 failed of 1',
      '1-7-3999 hook',
      '2-0-0 queued',
      '2-1-0 started of 1',
      '2-6-0 succeeded of 1',
      '2-7-3999 hook',
    ],
  ],
];

describe('the history of a job', () => {
  it.each(HISTORIES)('that is %s', (_, history, expected) => {
    expect(eventsOf(rows(history))).toEqual(['0-0-0 created', ...expected]);
  });

  it.each(HISTORIES)('goes on after each event without a gap: %s', (_, history) => {
    const all = eventsOf(rows(history));
    for (const [index, line] of all.entries()) {
      const [id = ''] = line.split(' ');
      expect(eventsOf(rows(history), id)).toEqual(all.slice(index + 1));
    }
  });

  it('is read page by page', () => {
    const history = rows({ attempts: [ended('succeeded')] });
    expect(buildHistory(history, null, 3)).toMatchObject({ more: true, events: [{}, {}, {}] });
    expect(buildHistory(history, [1, 1, 0], 3)).toMatchObject({
      more: false,
      events: [{ id: '1-6-0' }],
    });
    expect(buildHistory(history, null, 4).more).toBe(false);
  });

  it('says when and what', () => {
    const history = rows({
      attempts: [
        ended('retrying', { error: BROKEN, runAt: at(20) }),
        ended('queued', { claim: 2, error: LOST }),
        ended('queued', { claim: 3, error: INTERRUPTED }),
        ended('scheduled', { claim: 4, runAt: at(40) }),
        ended('failed', { claim: 5, error: BROKEN }),
      ],
      emitted: [emitted(0)],
      hooks: [hook({ status: 'failed', error: BROKEN }), hook({ hook: 'onFail', jobId: 'f' })],
    });
    const { events } = buildHistory(history, null, 100);
    const payloads = Object.fromEntries(events.map(({ id, payload }) => [id, payload]));
    expect(payloads).toMatchObject({
      '0-0-0': null,
      '1-0-0': null,
      '1-1-0': { workerId: 'w' },
      '1-2-0': { n: 0 },
      '1-5-0': { error: BROKEN, runAt: iso(20) },
      '2-5-0': { workerId: 'w', message: 'gone' },
      '3-5-0': { message: 'deploy' },
      '4-5-0': { runAt: iso(40) },
      '5-6-0': { error: BROKEN },
      '5-7-2999': { hook: 'onFail', status: 'succeeded', jobId: 'f' },
      '5-7-3999': { hook: 'onEnd', status: 'failed', jobId: 'h', error: BROKEN },
    });
    expect(events.find(({ id }) => id === '1-0-0')?.at).toBe(iso(1));
    expect(events.find(({ id }) => id === '5-7-3999')?.at).toBe(iso(10));
  });
});

describe('what was emitted after a place', () => {
  it.each([
    [null, { claim: 0, n: -1, stopping: false }],
    ['1-0-0', { claim: 1, n: -1, stopping: false }],
    ['1-1-0', { claim: 1, n: -1, stopping: false }],
    ['1-2-7', { claim: 1, n: 7, stopping: false }],
    ['1-3-0', { claim: 1, n: -1, stopping: true }],
    ['1-4-8', { claim: 1, n: 8, stopping: false }],
    ['1-5-0', { claim: 2, n: -1, stopping: false }],
    ['1-7-3', { claim: 2, n: -1, stopping: false }],
  ])('%s is read from there', (id, expected) => {
    expect(emittedAfter(id === null ? null : parsePosition(id))).toEqual(expected);
  });
});

describe('a job that was retried by hand', () => {
  const retried = { at: at(20), mode: 'now', runAt: null } as const;
  const again: AttemptRecord = { ...WAITS, claim: 3, queuedAt: at(20) };

  it('goes on after its end and its hooks', () => {
    const first = ended('failed', { error: BROKEN, retried });
    expect(eventsOf(rows({ attempts: [again, first], hooks: [hook()] }))).toEqual([
      '0-0-0 created',
      '1-0-0 queued',
      '1-1-0 started of 1',
      '1-6-0 failed of 1',
      '1-7-3999 hook',
      '1-8-0 retry_scheduled',
      '3-0-0 queued',
    ]);
  });

  it('tells a sleep from a snooze', () => {
    const payloadOf = (waitsFor: string | null) => {
      const attempts = [ended('scheduled', { runAt: at(30), waitsFor })];
      return buildHistory(rows({ attempts }), null, 9).events.at(-1)?.payload;
    };
    expect(payloadOf(null)).toEqual({ runAt: iso(30) });
    expect(payloadOf(':sleep')).toEqual({ runAt: iso(30), sleep: true });
  });

  it('tells how it was retried, and what its params were if it got others', () => {
    const payloadOf = (how: AttemptRecord['retried']) => {
      const { events } = buildHistory(
        rows({ attempts: [ended('failed', { retried: how })] }),
        null,
        9,
      );
      return events.find(({ type }) => type === 'retry_scheduled')?.payload;
    };
    expect(payloadOf(retried)).toEqual({ mode: 'now', runAt: null });
    expect(payloadOf({ at: at(20), mode: 'later', runAt: at(30), paramsBefore: [1] })).toEqual({
      mode: 'later',
      runAt: iso(30),
      paramsBefore: [1],
    });
  });
});

describe('a page that ends before its limit', () => {
  it('tells nothing of what was not read, and that there is more', () => {
    const history = rows({
      attempts: [ended('succeeded')],
      emitted: [emitted(0), emitted(1), emitted(2, { payload: null, beyond: true })],
    });
    const { events, more } = buildHistory(history, null, 100);
    expect(events.map(({ type }) => type)).toEqual([
      'created',
      'queued',
      'started',
      'custom',
      'custom',
    ]);
    expect(more).toBe(true);
  });

  it('ends before a claim that was not read', () => {
    const next: AttemptRecord = { ...ended('failed'), claim: 2, beyond: true };
    const { events, more } = buildHistory(rows({ attempts: [ended('retrying'), next] }), null, 100);
    expect(events.every(({ id }) => /^[01]-/.test(id))).toBe(true);
    expect([events.length > 3, more]).toEqual([true, true]);
  });
});
