import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LINE_MAX, LineReader, messageLine, runLine, type ToRunner } from './ipc.ts';

const job = {
  id: '019b76da-a800-7000-8000-000000000001',
  tenant: 'acme',
  claim: 3,
  attempt: 1,
  maxAttempts: 5,
  key: 'image.resize',
  version: 2,
};

describe('runLine', () => {
  it.each([
    ['nothing', 'null'],
    ['a number that a parser would round', '12345678901234567890.0'],
    ['keys in their order, twice', '{"b":1,"a":2,"b":3}'],
    ['spaces', '{ "a" : [ 1 , 2 ] }'],
    ['what looks like the end of the message', '{"a":"0}}"}'],
    ['what looks like a line end', String.raw`"a\nb\u000a"`],
    ['separators that only JavaScript breaks lines at', '"\u2028\u2029"'],
    ['escapes and quotes', String.raw`"\"\\\"}}\u0000\ud800"`],
    ['what String.replace would take for a pattern', `"$& $1 $' $\`"`],
    ['characters of four bytes', '"😀"'],
  ])('embeds params with %s to the letter', (_, paramsJson) => {
    const line = runLine(job, paramsJson);
    expect(line.endsWith('\n')).toBe(true);
    expect(line.slice(0, -1)).not.toContain('\n');
    expect(line).toContain(`"params":${paramsJson}}}`);
    expect(JSON.parse(line)).toEqual({
      type: 'run',
      job: { ...job, params: JSON.parse(paramsJson) as unknown },
    });
  });

  it('is the message that a parse and a write would have made', () => {
    fc.assert(
      fc.property(fc.json(), fc.string(), (text, key) => {
        const params = JSON.parse(text) as unknown;
        const message: ToRunner = { type: 'run', job: { ...job, key, params } };
        expect(runLine({ ...job, key }, JSON.stringify(params))).toBe(messageLine(message));
      }),
    );
  });
});

/** The chunks that a socket could deliver: the same text, cut anywhere, also in empty pieces. */
function chunksOf(text: string, cuts: readonly number[]): string[] {
  const places = [0, ...cuts.map((cut) => cut % (text.length + 1)), text.length];
  places.sort((a, b) => a - b);
  return places.slice(1).map((place, index) => text.slice(places[index], place));
}

describe('LineReader', () => {
  it('hands out the same lines however they were cut', () => {
    const anyLine = fc.string({
      unit: fc.constantFrom('a', '"', '\r', '😀', '\u2028'),
      maxLength: 9,
    });
    fc.assert(
      fc.property(fc.array(anyLine), fc.string(), fc.array(fc.nat()), (lines, open, cuts) => {
        const rest = open.replaceAll('\n', '');
        const text = lines.map((line) => `${line}\n`).join('') + rest;
        const reader = new LineReader();
        const read = chunksOf(text, cuts).flatMap((chunk) => reader.push(chunk) ?? ['too long']);
        expect(read).toEqual(lines);
        // What was not yet a whole line is the start of the next one.
        expect(reader.push('!\n')).toEqual([`${rest}!`]);
      }),
    );
  });

  it.each([
    ['one message', ['{"a":1}\n'], [['{"a":1}']]],
    ['one in three chunks', ['{"a', '":1', '}\n'], [[], [], ['{"a":1}']]],
    ['two and a half', ['a\nb\nc', '\n'], [['a', 'b'], ['c']]],
    ['a chunk that is only the end', ['a', '\n', 'b\n'], [[], ['a'], ['b']]],
    ['an empty chunk', ['', 'a', '', '\n'], [[], [], [], ['a']]],
    ['empty lines', ['\n\n'], [['', '']]],
  ])('reads %s', (_, chunks, expected) => {
    const reader = new LineReader();
    expect(chunks.map((chunk) => reader.push(chunk))).toEqual(expected);
  });

  const megabyte = 'x'.repeat(1_048_576);
  const fill = (reader: LineReader, length: number) => {
    let last: string[] | null = [];
    for (let sent = 0; sent < length && last; sent += megabyte.length) {
      last = reader.push(megabyte.slice(0, length - sent));
    }
    return last;
  };

  it('takes a line of the longest length', () => {
    const reader = new LineReader();
    expect(fill(reader, LINE_MAX)).toEqual([]);
    expect(reader.push('\n')?.map((line) => line.length)).toEqual([LINE_MAX]);
    expect(fill(reader, LINE_MAX)).toEqual([]);
  });

  it('gives up on a longer line before it is whole', () => {
    expect(fill(new LineReader(), LINE_MAX + 1)).toBeNull();
  });

  // A known gap: only the open rest is measured, so such a line still comes through. It is marked
  // as failing so that mending it shows; then this becomes a plain `it`.
  it('gives up on a longer line that arrives together with its end', () => {
    const reader = new LineReader();
    fill(reader, LINE_MAX);
    expect(reader.push('x\n')).toBeNull();
    expect(new LineReader().push(`${'x'.repeat(LINE_MAX + 1)}\n`)).toBeNull();
  });

  it('counts each line by itself', () => {
    const reader = new LineReader();
    for (let line = 0; line < 20; line += 1) {
      expect(reader.push(`${megabyte}\n`)).toHaveLength(1);
    }
  });
});
