/** Selected rows of a list, and the row that a range begins at. */
export interface Selection {
  ids: ReadonlySet<string>;
  anchor: string | null;
}

export const NO_SELECTION: Selection = { ids: new Set(), anchor: null };

/** The maximum of one bulk action. */
export const SELECTED_MAX = 1_000;

/**
 * Toggles one row. With `range`, all rows from the anchor to this one become like it.
 */
export function toggled(
  { ids, anchor }: Selection,
  rows: readonly string[],
  id: string,
  range: boolean,
): Selection {
  const isOn = !ids.has(id);
  const from = range && anchor !== null ? rows.indexOf(anchor) : -1;
  const to = rows.indexOf(id);
  const meant = from < 0 ? [id] : rows.slice(Math.min(from, to), Math.max(from, to) + 1);
  return { ids: changed(ids, meant, isOn), anchor: id };
}

/** Selects all rows, or none of them if all are selected. */
export function toggledAll({ ids }: Selection, rows: readonly string[]): Selection {
  return { ids: changed(ids, rows, !rows.every((id) => ids.has(id))), anchor: null };
}

function changed(
  ids: ReadonlySet<string>,
  meant: readonly string[],
  isOn: boolean,
): ReadonlySet<string> {
  const next = new Set(ids);
  for (const id of meant) {
    if (!isOn) next.delete(id);
    else if (next.size < SELECTED_MAX) next.add(id);
  }
  return next;
}
