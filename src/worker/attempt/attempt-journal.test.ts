import { describe, expect, it } from 'vitest';
import { AttemptJournal } from './attempt-journal.ts';

const JOB = { id: 'a', claim: 2, attempts: 1 };
const journal = (logMaxBytes = 1_000_000) => new AttemptJournal(JOB, { logMaxBytes });
const said = (message: string) => ({ level: 'info', stream: 'stdout', message }) as const;

describe('the lines of an attempt', () => {
  it('leave in numbered chunks', () => {
    const one = journal();
    one.line(said('first'), 10);
    one.line(said('second'), 20);
    expect(one.take(30).chunks).toEqual([
      {
        id: 'a',
        claim: 2,
        attempt: 1,
        n: 0,
        lines: [
          { atMs: 10, ...said('first') },
          { atMs: 20, ...said('second') },
        ],
      },
    ]);
    expect(one.empty).toBe(true);
    one.line(said('third'), 40);
    expect(one.take(50).chunks[0]?.n).toBe(1);
    expect(one.take(60).chunks).toEqual([]);
  });

  it('are cut where they are too long, and say so', () => {
    const one = journal();
    one.line(said('x'.repeat(20_000)), 0);
    const message = one.take(0).chunks[0]?.lines[0]?.message;
    expect(message).toMatch(/^x{16384}… \(3616 characters cut\)$/);
  });

  it('end with a mark where the attempt has said enough, and nothing follows it', () => {
    const one = journal(500);
    for (let i = 0; i < 100; i += 1) one.line(said('twenty characters ok'), i);
    const lines = one.take(0).chunks[0]?.lines ?? [];
    expect(lines.at(-1)).toMatchObject({ stream: 'system', level: 'warn' });
    expect(lines.at(-1)?.message).toContain('500 bytes');
    expect(lines.filter(({ stream }) => stream === 'stdout').length).toBe(8);
    one.line(said('more'), 0);
    expect(one.empty).toBe(true);
  });

  it('are left out while too many wait, and a mark tells how many', () => {
    const one = journal(100_000_000);
    for (let i = 0; i < 200; i += 1) one.line(said('y'.repeat(10_000)), i);
    const lines = one.take(300).chunks[0]?.lines ?? [];
    const kept = lines.length - 1;
    expect(kept).toBeLessThan(110);
    const why = 'they came quicker than they could be stored';
    expect(lines.at(-1)).toMatchObject({
      atMs: 300,
      message: `… ${200 - kept} lines left out: ${why}`,
    });
    one.line(said('the database is back'), 400);
    expect(one.take(400).chunks[0]?.lines).toEqual([
      { atMs: 400, ...said('the database is back') },
    ]);
  });
});

describe('the events of an attempt', () => {
  it('are numbered, and tell their age', () => {
    const one = journal();
    one.event('custom', '1', 100);
    one.event('custom', '2', 150);
    expect(one.take(200).events).toMatchObject([
      { n: 0, payloadJson: '1', ageMs: 100, type: 'custom', claim: 2, attempt: 1 },
      { n: 1, payloadJson: '2', ageMs: 50 },
    ]);
    one.event('custom', '3', 300);
    expect(one.take(300).events).toMatchObject([{ n: 2, ageMs: 0 }]);
  });

  it('have of all progress only the latest', () => {
    const one = journal();
    one.progress(0.1, null, 0);
    one.progress(0.2, 'half of it', 5);
    const { events, progress } = one.take(10);
    expect(progress).toEqual({ id: 'a', claim: 2, fraction: 0.2, message: 'half of it' });
    expect(events).toMatchObject([
      { type: 'progress', payloadJson: '{"fraction":0.2,"message":"half of it"}', ageMs: 5 },
    ]);
    expect(one.empty).toBe(true);
  });

  it('are left out while too many wait, and a mark tells how many', () => {
    const one = journal();
    for (let i = 0; i < 1_500; i += 1) one.event('custom', '0', 0);
    const { events, chunks } = one.take(5);
    expect(events.map(({ n }) => n)).toEqual(Array.from({ length: 1_000 }, (_, n) => n));
    expect(chunks[0]?.lines[0]?.message).toMatch('500 events left out');
    one.event('custom', '1', 6);
    expect(one.take(6)).toMatchObject({ chunks: [], events: [{ n: 1_000 }] });
  });

  it('are limited in number', () => {
    const one = journal();
    let written = 0;
    for (let i = 0; i < 20_000; i += 1) {
      one.event('custom', '0', 0);
      if (i % 500 === 0) written += one.take(0).events.length;
    }
    expect(written).toBeLessThanOrEqual(10_000);
    expect(written).toBeGreaterThan(9_000);
  });
});

describe('the steps of an attempt', () => {
  const payloads = (one: AttemptJournal, nowMs: number) =>
    one.take(nowMs).events.map(({ payloadJson, ageMs }) => [JSON.parse(payloadJson), ageMs]);

  it('are events when they have run for a second, and when such a step fails', () => {
    const one = journal();
    one.step('render', 'started', 0);
    expect([one.isEmpty(999), one.isEmpty(1_000)]).toEqual([true, false]);
    expect(payloads(one, 1_500)).toEqual([[{ step: 'render', state: 'started' }, 1_500]]);
    expect(one.isEmpty(9_000)).toBe(true);
    one.step('render', 'failed', 2_000);
    expect(payloads(one, 2_100)).toEqual([[{ step: 'render', state: 'failed' }, 100]]);
    expect(one.unused).toBe(false);
  });

  it('that end sooner leave nothing to write', () => {
    const one = journal();
    for (const state of ['stored', 'failed'] as const) {
      one.step(state, 'started', 0);
      one.step(state, state, 500);
    }
    one.step('goes on', 'started', 500);
    expect([one.isEmpty(1_400), one.unused]).toEqual([true, true]);
  });
});

describe('the stream', () => {
  const keep = (text: string) => text.toUpperCase();
  const taken = (one: AttemptJournal) => one.takeStream(keep).map(({ n, data }) => [n, data]);

  it('is taken in numbered chunks, as it is to be kept', () => {
    const one = journal();
    for (const text of ['a', 'b']) one.stream(text, 0);
    expect(one.streams).toBe(true);
    expect(taken(one)).toEqual([[0, 'AB']]);
    expect([one.streams, taken(one)]).toEqual([false, []]);
    one.stream('c', 0);
    expect(taken(one)).toEqual([[1, 'C']]);
  });

  it('ends at its limit, and one line of the log says so', () => {
    const one = new AttemptJournal(JOB, { logMaxBytes: 1_000, streamMaxBytes: 3 });
    for (const text of ['ab', 'c', 'd', 'e']) one.stream(text, 0);
    expect(taken(one)).toEqual([[0, 'ABC']]);
    const lines = one.take(0).chunks.flatMap((chunk) => chunk.lines);
    expect(lines.map(({ message }) => message)).toEqual([
      '… the stream is truncated: an attempt may stream 3 bytes (LONGSHORE_STREAM_MAX_BYTES)',
    ]);
  });
});
