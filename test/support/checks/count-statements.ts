import { setImmediate } from 'node:timers/promises';
import { Client } from 'pg';
import { vi } from 'vitest';
import { Db } from '../../../src/store/connection/db.ts';

/** Counts the statements of all connections of this process by name, and waits for their answers. */
export function countStatements() {
  const counts = new Map<string, number>();
  const underWay = new Set<Promise<unknown>>();
  const { query } = Client.prototype;
  const counting = function (this: Client, ...args: Parameters<typeof query>) {
    const [asked] = args as unknown as [string | { name?: string; text: string }];
    const name = typeof asked === 'string' ? asked : (asked.name ?? asked.text);
    counts.set(name, (counts.get(name) ?? 0) + 1);
    return query.apply(this, args);
  };
  vi.spyOn(Client.prototype, 'query').mockImplementation(counting);
  const { run, transaction } = Db.prototype;
  const pending = async <T>(work: Promise<T>): Promise<T> => {
    underWay.add(work);
    return await work.finally(() => underWay.delete(work));
  };
  vi.spyOn(Db.prototype, 'run').mockImplementation(async function (this: Db, one, values) {
    return await pending(run.call(this, one, values));
  });
  vi.spyOn(Db.prototype, 'transaction').mockImplementation(async function (this: Db, work) {
    return await pending(transaction.call(this, work));
  });
  const answered = async () => {
    do await setImmediate();
    while (underWay.size > 0);
  };
  return { counts, answered };
}
