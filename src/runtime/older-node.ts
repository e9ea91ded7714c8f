/**
 * What Node 20 lacks and the store uses. An application on Node 20 may enqueue in process, so it gets
 * these functions of the language; a newer Node keeps its own.
 */
export function addMissing(
  map: { groupBy?: typeof Map.groupBy } = Map,
  promise: { withResolvers?: typeof Promise.withResolvers } = Promise,
): void {
  map.groupBy ??= groupBy;
  promise.withResolvers ??= withResolvers;
}

function groupBy<K, T>(items: Iterable<T>, keyOf: (item: T, index: number) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  let index = 0;
  for (const item of items) {
    const key = keyOf(item, index++);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}

function withResolvers<T>(): PromiseWithResolvers<T> {
  let resolve!: PromiseWithResolvers<T>['resolve'];
  let reject!: PromiseWithResolvers<T>['reject'];
  const promise = new Promise<T>((...both) => {
    [resolve, reject] = both;
  });
  return { promise, resolve, reject };
}
