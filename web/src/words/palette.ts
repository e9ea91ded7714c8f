/** An entry of the command palette. */
export interface PaletteItem {
  id: string;
  kind:
    | 'Screen'
    | 'Definition'
    | 'Schedule'
    | 'Worker'
    | 'Tenant'
    | 'Job'
    | 'Batch'
    | 'Action'
    | 'Search';
  title: string;
  /** Shown beside the title, and searched. */
  detail?: string;
}

const SHOWN_MAX = 12;

/**
 * The best matches first, and the search for the text last; without a text, screens and actions in
 * their order.
 */
export function bestItems<Item extends PaletteItem>(all: readonly Item[], text: string): Item[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === '') {
    return all.filter(({ kind }) => kind === 'Screen' || kind === 'Action').slice(0, SHOWN_MAX * 2);
  }
  const matches = all
    .filter(({ kind }) => kind !== 'Search')
    .map((item) => ({ item, score: scoreOf(item, wanted) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, SHOWN_MAX)
    .map(({ item }) => item);
  return [...matches, ...all.filter(({ kind }) => kind === 'Search')];
}

function scoreOf({ kind, title, detail = '' }: PaletteItem, wanted: string): number {
  // The server found it by its id.
  if (kind === 'Job' || kind === 'Batch') return 6;
  const name = title.toLowerCase();
  if (name === wanted) return 7;
  if (name.startsWith(wanted)) return 5;
  if (name.split(/[^a-z0-9]+/).some((word) => word.startsWith(wanted))) return 4;
  if (name.includes(wanted)) return 3;
  if (detail.toLowerCase().includes(wanted)) return 2;
  return hasInOrder(name, wanted) ? 1 : 0;
}

/** `dltr` is in "dead letters". */
function hasInOrder(name: string, wanted: string): boolean {
  let at = 0;
  for (const letter of wanted.replaceAll(' ', '')) {
    at = name.indexOf(letter, at) + 1;
    if (at === 0) return false;
  }
  return true;
}
