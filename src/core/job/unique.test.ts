import { describe, expect, it } from 'vitest';
import { JOB_STATES, type JobState } from './job.ts';
import { judgeUnique, replacingDelayMs, type UniqueWhile } from './unique.ts';

const WAITING: JobState[] = ['created', 'scheduled', 'queued', 'retrying'];
const ACTIVE: JobState[] = [...WAITING, 'suspended', 'running', 'cancelling'];
const MINUTE = { windowMs: 60_000 };

const judge = (
  during: UniqueWhile,
  onConflict: 'existing' | 'replace',
  state: JobState,
  more: { ageMs?: number; untouched?: boolean } = {},
) =>
  judgeUnique(
    { key: null, while: during, onConflict },
    { state, ageMs: 1_000, untouched: false, ...more },
  );

describe('a unique job', () => {
  it('is made when no job holds its key', () => {
    expect(judgeUnique({ key: 'a', while: 'active', onConflict: 'existing' }, null)).toBe('make');
  });

  it.each(JOB_STATES)('meets one that is %s', (state) => {
    const keeps = (out: boolean) => (out ? 'existing' : 'make');
    expect(judge('queued', 'existing', state)).toBe(keeps(WAITING.includes(state)));
    expect(judge('active', 'existing', state)).toBe(keeps(ACTIVE.includes(state)));
    expect(judge(MINUTE, 'existing', state)).toBe('existing');
    expect(judge(MINUTE, 'existing', state, { ageMs: 60_000 })).toBe('make');
  });

  it('replaces one that was never claimed', () => {
    for (const during of ['queued', 'active', MINUTE] as const) {
      expect(judge(during, 'replace', 'queued', { untouched: true })).toBe('replace');
      expect(judge(during, 'replace', 'scheduled', { untouched: true })).toBe('replace');
    }
  });

  it('does not replace one that has begun', () => {
    expect(judge('queued', 'replace', 'retrying')).toBe('make');
    expect(judge('queued', 'replace', 'running')).toBe('make');
    expect(judge('active', 'replace', 'retrying')).toBe('existing');
    expect(judge('active', 'replace', 'running')).toBe('existing');
    expect(judge('active', 'replace', 'succeeded')).toBe('make');
    expect(judge(MINUTE, 'replace', 'succeeded')).toBe('existing');
  });
});

describe('a job that is replaced again and again', () => {
  it.each([
    [undefined, 1_000, 99_000, 1_000],
    [5_000, 1_000, 0, 1_000],
    [5_000, 1_000, 4_000, 1_000],
    [5_000, 1_000, 4_500, 500],
    [5_000, 1_000, 5_000, 0],
    [5_000, 1_000, 9_000, 0],
    [5_000, 0, 100, 0],
  ])(
    'with maxWaitMs %s, a delay of %d ms and an age of %d ms, waits %d ms',
    (maxWaitMs, delayMs, ageMs, left) => {
      expect(replacingDelayMs({ maxWaitMs }, delayMs, ageMs)).toBe(left);
    },
  );
});
