import { expect, it } from 'vitest';
import { chunksOf, piecesOf, STREAM_CHUNK_CHARS } from './stream.ts';

it.each([
  ['', 4, []],
  ['abc', 4, ['abc']],
  ['abcd', 4, ['abcd']],
  ['abcde', 4, ['abcd', 'e']],
  ['abc😀d', 4, ['abc', '😀d']],
  ['ab😀cd', 4, ['ab😀', 'cd']],
])('cuts %j at %i characters', (text, charsMax, pieces) => {
  expect(piecesOf(text, charsMax)).toEqual(pieces);
});

const half = 'x'.repeat(STREAM_CHUNK_CHARS / 2);

it.each([
  ['nothing', [], []],
  ['pieces into one chunk', ['a', 'b', 'c'], ['abc']],
  ['what is too much into the next chunk', [half, half, 'c'], [half + half, 'c']],
  ['a large piece into a chunk of its own', ['a', half + half], ['a', half + half]],
])('joins %s', (_, pieces, chunks) => {
  expect(chunksOf(pieces)).toEqual(chunks);
});
