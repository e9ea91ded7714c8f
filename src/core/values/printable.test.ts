import { expect, test } from 'vitest';
import { printable, printableJson } from './printable.ts';

// What moves a cursor, or turns the direction of reading around (Unicode's Bidi_Control).
const TURNING = ['\u061c', '\u200e', '\u200f', '\u202a', '\u202e', '\u2066', '\u2069'];

test.each([...TURNING, '\u001b', '\u009b', '\u2028'])(
  '%j never reaches a terminal',
  (character) => {
    const escaped = `a\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}b`;
    expect(printable(`a${character}b`)).toBe(escaped);
    expect(printableJson([`a${character}b`])).toBe(`["${escaped}"]`);
  },
);
