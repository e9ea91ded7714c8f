import { expect, it } from 'vitest';
import { appendOutput, NO_OUTPUT, OUTPUT_MAX } from './output-tail.ts';

it('joins text, and begins again with an entry without text', () => {
  const first = appendOutput(NO_OUTPUT, { id: '1-0-0', attempt: 1, text: null });
  const joined = ['a', 'b\u001b[2J'].reduce(
    (tail, text, n) => appendOutput(tail, { id: `1-${n + 1}-0`, attempt: 1, text }),
    first,
  );
  expect(joined).toEqual({ text: 'ab', attempt: 1, lastId: '1-2-0', dropped: 0 });
  expect(appendOutput(joined, { id: '2-0-0', attempt: 2, text: null })).toEqual({
    text: '',
    attempt: 2,
    lastId: '2-0-0',
    dropped: 0,
  });
});

it('keeps the end of a long text', () => {
  const long = appendOutput(NO_OUTPUT, { id: '1-1-0', attempt: 1, text: 'x'.repeat(OUTPUT_MAX) });
  const { text, dropped } = appendOutput(long, { id: '1-2-0', attempt: 1, text: 'yz' });
  expect([text.length, text.slice(-2), dropped]).toEqual([OUTPUT_MAX, 'yz', 2]);
});
