/** Every statement locks jobs in the order of their ids, so two batches cannot deadlock. */
export function inLockOrder<T extends { id: string }>(items: readonly T[]): T[] {
  return items.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}
