import { describe, expect, it } from 'vitest';
import { parseMessage } from './parse-message.ts';

const outcome = (value: unknown) =>
  parseMessage(
    JSON.stringify({ type: 'outcome', claim: 1, outcome: value, cpuMs: 1.4, peakRssBytes: null }),
  );
const success = (resultJson: unknown) => outcome({ kind: 'success', resultJson });

describe('what a runner says', () => {
  it('is believed when it is well-formed', () => {
    expect(success('{"a":1}')).toEqual({
      type: 'outcome',
      claim: 1,
      outcome: { kind: 'success', resultJson: '{"a":1}' },
      cpuMs: 1,
      peakRssBytes: null,
      spent: false,
    });
    const ready = { type: 'ready', definitions: [{ key: 'a', version: 1 }], problems: ['b'] };
    expect(parseMessage(JSON.stringify(ready))).toEqual(ready);
    const progress = { type: 'progress', claim: 3, fraction: 0.5, message: null };
    expect(parseMessage(JSON.stringify(progress))).toEqual(progress);
    const stream = { type: 'stream', claim: 3, text: 'a' };
    expect(parseMessage(JSON.stringify(stream))).toEqual(stream);
    const step = { type: 'step', claim: 3, name: 'render', state: 'failed' };
    expect(parseMessage(JSON.stringify(step))).toEqual(step);
    const failedStep = { name: 'render', durationMs: 5, untilEndMs: 7 };
    const error = { code: 'X', message: 'x', stack: null, cause: null, step: failedStep };
    expect(outcome({ kind: 'failure', error })).toMatchObject({ outcome: { error } });
    const heartbeat = { type: 'heartbeat', claim: 3 };
    expect(parseMessage(JSON.stringify(heartbeat))).toEqual(heartbeat);
  });

  it.each([
    ['no JSON', 'nonsense'],
    ['no object', '[1]'],
    ['no type', '{"claim":1}'],
    ['a type that only the worker uses', '{"type":"run","claim":1}'],
    ['no definitions', '{"type":"ready","problems":[]}'],
    ['a definition without a key', '{"type":"ready","definitions":[{"version":1}],"problems":[]}'],
    ['a problem that is no text', '{"type":"ready","definitions":[],"problems":[1]}'],
    ['no claim', '{"type":"progress","fraction":0.5,"message":null}'],
    ['a claim that is no number', '{"type":"log","claim":"1","level":"info","message":"x"}'],
    ['a step of the server', '{"type":"step","claim":1,"name":"signal:go","state":"started"}'],
    ['a fraction out of range', '{"type":"progress","claim":1,"fraction":2,"message":null}'],
  ])('is refused with %s', (_, line) => {
    expect(parseMessage(line)).toBeNull();
  });

  it.each([
    ['two values', '1,2'],
    ['a value and more', 'null]'],
    ['no value', ''],
    ['no text', 5],
    ['too much', `"${'x'.repeat(1_100_000)}"`],
  ])('is no result with %s', (_, resultJson) => {
    expect(success(resultJson)).toBeNull();
  });

  it.each([
    ['lost', { kind: 'lost', message: 'x' }],
    ['interrupted', { kind: 'interrupted', message: 'x' }],
    ['unstarted', { kind: 'unstarted' }],
    ['a snooze for ever', { kind: 'snoozed', delayMs: 1e15 }],
    ['a failure without an error', { kind: 'failure', retryAfterMs: null }],
  ])('cannot be %s, which is not for it to say', (_, value) => {
    expect(outcome(value)).toBeNull();
  });

  it.each([
    ['made', 12.6, 13],
    ['made', 1e12, 2_147_483_647],
    ['made', -1, null],
    ['made', 'long', null],
    [null, 5, null],
  ])('step %s that ran %s ms is stored with %s', (step, durationMs, stored) => {
    const save = { type: 'save', claim: 1, seq: 2, step, valueJson: '1', durationMs };
    expect(parseMessage(JSON.stringify(save))).toEqual({ ...save, durationMs: stored });
  });

  it('is cut to size and cleaned', () => {
    const cause = { code: 'A', message: 'c\u0000', stack: null, cause: null };
    const error = { code: 'X'.repeat(500), message: 'm'.repeat(20_000), stack: 7, cause };
    const value = outcome({ kind: 'failure', error, retryAfterMs: -5 });
    expect(value).toMatchObject({
      outcome: {
        error: { code: 'X'.repeat(64), stack: null, cause: { message: 'c\uFFFD' } },
        retryAfterMs: null,
      },
    });
    expect(JSON.stringify(value).length).toBeLessThan(9_000);
  });
});
