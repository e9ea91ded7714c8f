import { describe, expect, it } from 'vitest';
import { LEVELS, LOG_STREAMS, type LogLine } from '../../core/views/history.ts';
import { packLines, unpackLines } from './log-data.ts';

const line = (changes: Partial<LogLine> = {}): LogLine => ({
  atMs: 1_767_225_600_123,
  level: 'info',
  stream: 'stdout',
  message: 'hello',
  ...changes,
});

describe('the lines of a chunk', () => {
  it.each([
    ['few', [line()]],
    [
      'of every kind',
      LEVELS.flatMap((level) => LOG_STREAMS.map((s) => line({ level, stream: s }))),
    ],
    ['with odd characters', [line({ message: '\u0000 \ud800 é 😀 \n\r\u2028 "\\' })]],
    ['of no text', [line({ message: '' })]],
    ['many', Array.from({ length: 500 }, (_, n) => line({ message: `line ${n}`, atMs: n }))],
    ['one long', [line({ message: 'x'.repeat(100_000) })]],
  ])('come back as they were: %s', async (_, lines) => {
    expect(await unpackLines(await packLines(lines))).toEqual(lines);
  });

  it('take less room where there is much to say', async () => {
    const lines = Array.from({ length: 500 }, (_, n) => line({ message: `line ${n} of many` }));
    expect((await packLines(lines)).length).toBeLessThan(JSON.stringify(lines).length / 5);
  });
});
