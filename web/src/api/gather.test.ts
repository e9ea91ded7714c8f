import { expect, it } from 'vitest';
import { gather } from './gather.ts';

/** A list of 0 and 1, of which a request searches ten. */
function listOf(matches: readonly boolean[]) {
  return async (cursor: string | undefined, limit: number) => {
    const jobs: number[] = [];
    let at = Number(cursor ?? 0);
    const end = at + 10;
    for (; at < Math.min(end, matches.length) && jobs.length < limit; at += 1) {
      if (matches[at]) jobs.push(at);
    }
    const nextCursor = at < matches.length ? String(at) : null;
    return { jobs, nextCursor, searchedUntil: nextCursor };
  };
}

it('goes on until something is found, and to the end', async () => {
  const rare = Array.from({ length: 200 }, (_, at) => at === 155);
  expect(await gather(listOf(rare), undefined)).toEqual({
    jobs: [155],
    nextCursor: null,
    searchedUntil: null,
    requests: 20,
  });
});

it('ends when the page is full, and continues after it', async () => {
  const half = Array.from({ length: 1_000 }, (_, at) => at % 2 === 0);
  const first = await gather(listOf(half), undefined);
  expect(first.jobs).toEqual(Array.from({ length: 50 }, (_, n) => n * 2));
  const second = await gather(listOf(half), first.nextCursor ?? undefined);
  expect(second.jobs[0]).toBe(100);
});

it('gives up at a bound, and says how far it came', async () => {
  const none = Array.from({ length: 5_000 }, () => false);
  const seen: (string | null)[] = [];
  const page = await gather(listOf(none), undefined, (until) => seen.push(until));
  expect(page).toEqual({ jobs: [], nextCursor: '1000', searchedUntil: '1000', requests: 100 });
  expect(seen.length).toBe(99);
});
