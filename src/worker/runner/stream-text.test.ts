import { describe, expect, it } from 'vitest';
import { STREAM_TEXT_MAX } from '../ipc.ts';
import { streamOf } from './stream-text.ts';

function streamWith(maxBytes?: number) {
  const sent: string[] = [];
  return { sent, stream: streamOf(maxBytes, (piece) => sent.push(piece)) };
}

describe('ctx.stream', () => {
  it('sends each text at once, a long one in pieces, an empty one not at all', () => {
    const { sent, stream } = streamWith();
    stream('one');
    stream('');
    stream('x'.repeat(STREAM_TEXT_MAX + 1));
    expect(sent.map(({ length }) => length)).toEqual([3, STREAM_TEXT_MAX, 1]);
  });

  it.each([[null], [undefined], [7], [{ text: 'a' }]])(
    'refuses %j and says what to do',
    (value) => {
      const { stream } = streamWith();
      expect(() => stream(value as unknown as string)).toThrow(/takes a text .* JSON.stringify/);
    },
  );

  it('refuses more than its limit, counted in bytes, and names the setting', () => {
    const { sent, stream } = streamWith(6);
    stream('é€');
    stream('a');
    expect(() => stream('b')).toThrow(
      'an attempt may stream 6 bytes: stream less, or raise LONGSHORE_STREAM_MAX_BYTES',
    );
    expect(sent).toEqual(['é€', 'a']);
  });
});
