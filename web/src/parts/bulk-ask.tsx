import { useSyncExternalStore } from 'react';
import type { BulkFilter } from '../../../src/client/bulk.ts';
import type { BulkAction } from '../../../src/core/job/bulk.ts';
import { BulkDialog } from './bulk-dialog.tsx';

/**
 * What somebody wants to do to many jobs. It is asked about beside all screens: what is done to a row
 * may make the row vanish, and the question about it must not vanish with it.
 */
interface Wish {
  action: BulkAction;
  filter: BulkFilter;
  what: string;
}

let asked: Wish | null = null;
const listeners = new Set<() => void>();

export const bulkAsk = {
  open(wish: Wish | null): void {
    asked = wish;
    for (const listener of listeners) listener();
  },
};

export function BulkAsk() {
  const wish = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    () => asked,
  );
  return wish && <BulkDialog {...wish} onClose={() => bulkAsk.open(null)} />;
}
