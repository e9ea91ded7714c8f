import { describe, expect, it } from 'vitest';
import { LINE_MAX } from '../ipc.ts';
import { RunnerChannel } from './runner-channel.ts';

const EVENTS = {
  onMessage: () => undefined,
  onOutput: () => undefined,
  onPartOfLine: () => undefined,
  onExit: () => undefined,
};

describe('the longest message of a runner', () => {
  it('has room for a large result, where the job may have one', () => {
    const channel = new RunnerChannel(() => undefined);
    expect(channel.lineMax).toBe(LINE_MAX);
    channel.begin(1, EVENTS, 64 * 1_048_576);
    expect(channel.lineMax).toBeGreaterThan(64 * 1_048_576);
  });

  it('is that of the current job, not of the one before it', () => {
    const channel = new RunnerChannel(() => undefined);
    channel.begin(1, EVENTS, 64 * 1_048_576);
    channel.forget();
    channel.beginGroup([{ claim: 2, events: EVENTS }]);
    expect(channel.lineMax).toBe(LINE_MAX);
    channel.begin(3, EVENTS);
    expect(channel.lineMax).toBe(LINE_MAX);
  });
});
