import type { BulkFilter } from '../../../../src/client/bulk.ts';
import type { BulkAction } from '../../../../src/core/job/bulk.ts';
import { createCell } from '../../runtime/cell.ts';
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

const asked = createCell<BulkQuestion | null>(null);

export const bulkAsk = { open: asked.set };

export function BulkAsk() {
  const question = asked.use();
  return question && <BulkDialog {...question} onClose={() => bulkAsk.open(null)} />;
}
