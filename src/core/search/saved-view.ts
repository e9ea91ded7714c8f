import { unknownName } from '../values/nearest.ts';
import { readSearch } from './search.ts';

/**
 * A view that people share: the search of a list under a name. `query` is the query string of the
 * screen in the dashboard, so a view is an address with a name.
 */
export interface SavedView {
  name: string;
  screen: ViewScreen;
  query: string;
  createdAt: string;
  updatedAt: string;
  /** Who saved it last. */
  updatedBy: string;
}

/** The parameters that each screen has. */
export const VIEW_SCREENS = {
  jobs: ['status', 'definitionKey', 'tag', 'errorCode', 'q', 'since', 'sort'],
  'dead-letters': ['window', 'definitionKey', 'errorCode', 'fingerprint', 'q'],
} as const;

export type ViewScreen = keyof typeof VIEW_SCREENS;
export const VIEW_SCREEN_NAMES = Object.keys(VIEW_SCREENS) as [ViewScreen, ...ViewScreen[]];

export const VIEW_NAME_MAX = 60;
export const VIEW_QUERY_MAX = 2_000;
/** Of one tenant. */
export const VIEWS_MAX = 200;

/** What is wrong with the query of a view; null when a screen can show it. */
export function viewQueryProblem(
  screen: ViewScreen,
  parameters: Iterable<readonly [string, string]>,
): string | null {
  const known: readonly string[] = VIEW_SCREENS[screen];
  for (const [name, value] of parameters) {
    if (!known.includes(name)) return unknownName(`parameter of ${screen}`, name, known);
    const reading = name === 'q' ? readSearch(value) : null;
    if (reading && 'problem' in reading) return `q: ${reading.problem}`;
  }
  return null;
}
