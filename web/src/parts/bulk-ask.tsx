import { useSyncExternalStore } from 'react';
import type { BulkFilter } from '../../../src/client/bulk.ts';
import type { BulkAction } from '../../../src/core/job/bulk.ts';
import { BulkDialog } from './bulk-dialog.tsx';

/**
 * The open bulk dialog. It lives outside the screens, so it stays open when the row that opened it
 * disappears.
 */
interface BulkQuestion {
  action: BulkAction;
  filter: BulkFilter;
  what: string;
}

let asked: BulkQuestion | null = null;
const listeners = new Set<() => void>();

export const bulkAsk = {
  open(question: BulkQuestion | null): void {
    asked = question;
    for (const listener of listeners) listener();
  },
};

export function BulkAsk() {
  const question = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    () => asked,
  );
  return question && <BulkDialog {...question} onClose={() => bulkAsk.open(null)} />;
}
