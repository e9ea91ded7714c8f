import { useState } from 'react';
import { NO_SELECTION, type Selection } from '../../words/search/selection.ts';

/** The selection on a page of a list; another page begins without one. */
export function useSelection(page: object): [Selection, (selection: Selection) => void] {
  const key = JSON.stringify(page);
  const [kept, keep] = useState({ key, selection: NO_SELECTION });
  const selected = kept.key === key ? kept.selection : NO_SELECTION;
  return [selected, (selection) => keep({ key, selection })];
}
