import { expect, it } from 'vitest';
import type { StreamView } from '../../core/views/history.ts';
import { chunksOf } from './stream-chunks.ts';

async function* sent(...entries: (readonly [string, number, string | null])[]) {
  for (const [id, attempt, text] of entries) yield { id, attempt, text } satisfies StreamView;
}

async function read(entries: AsyncIterable<StreamView>, cursor?: string): Promise<string[]> {
  const seen: string[] = [];
  for await (const { text, attempt, startsOver } of chunksOf(entries, cursor)) {
    seen.push(startsOver ? `over ${attempt}` : `${attempt} ${text}`);
  }
  return seen;
}

it('a reader without text needs no news of a beginning', async () => {
  const entries = sent(
    ['1-0-0', 1, null],
    ['2-0-0', 2, null],
    ['2-1-0', 2, 'a'],
    ['2-2-0', 2, 'b'],
  );
  expect(await read(entries)).toEqual(['2 a', '2 b']);
});

it('a reader with text hears once that it no longer counts', async () => {
  const entries = sent(
    ['1-0-0', 1, null],
    ['1-1-0', 1, 'a'],
    ['2-0-0', 2, null],
    ['3-0-0', 3, null],
  );
  expect(await read(entries)).toEqual(['1 a', 'over 2']);
});

it('a reader that goes on after a cursor has text', async () => {
  expect(await read(sent(['2-0-0', 2, null], ['2-1-0', 2, 'a']), '1-5-0')).toEqual([
    'over 2',
    '2 a',
  ]);
});
