import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OUTPUT_LINE_MAX, OutputLines } from './output-lines.ts';

function linesOf(chunks: readonly string[]): string[] {
  const lines: string[] = [];
  const reader = new OutputLines((line) => lines.push(line));
  for (const chunk of chunks) reader.push(chunk);
  reader.flush();
  return lines;
}

describe('what a process writes', () => {
  it.each([
    ['nothing', [], []],
    ['lines', ['a\nb\n'], ['a', 'b']],
    ['empty lines', ['\n\n'], ['', '']],
    ['a line in pieces', ['a', 'b', 'c\nd'], ['abc', 'd']],
    ['the line ends of Windows', ['a\r\nb\r', '\n'], ['a', 'b']],
  ])('comes in lines: %s', (_, chunks, lines) => {
    expect(linesOf(chunks)).toEqual(lines);
  });

  it('is the same however it is cut', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: fc.constantFrom('a', 'b', '\n') })), (chunks) => {
        expect(linesOf(chunks)).toEqual(linesOf([chunks.join('')]));
      }),
    );
  });

  it('counts its lines, because each costs work', () => {
    const reader = new OutputLines(() => undefined);
    expect(reader.push('a\nb\nc')).toBe(2);
    expect(reader.push('\n')).toBe(1);
  });

  it('is cut where a line is too long, with a mark, and the next line is whole', () => {
    const chunks = Array.from({ length: 100 }, () => 'x'.repeat(10_000));
    const [long, next] = linesOf([...chunks, '\nnext\n']);
    expect(long?.length).toBeLessThanOrEqual(OUTPUT_LINE_MAX);
    const kept = /^x+/.exec(long ?? '')?.[0].length ?? 0;
    expect(long?.slice(kept)).toBe(`… (${1_000_000 - kept} characters cut)`);
    expect(next).toBe('next');
  });

  it('is never cut into half a character', () => {
    const [line] = linesOf([`a${'😀'.repeat(20_000)}`]);
    expect(line?.isWellFormed()).toBe(true);
  });
});
