import { mayDo, type Scope } from '../core/access/scope.ts';
import { mayServe } from '../core/access/key-patterns.ts';
import { unknownName } from '../core/values/nearest.ts';
import type { Tool } from './tool.ts';

/** What the person who starts the server allows, whatever a key may do. */
export interface Plan {
  /** Tools that change something: none, all, or these. */
  writes: 'none' | 'all' | readonly string[];
  /** Definitions that are tools of their own: keys, or patterns like `report.*`. */
  offers: readonly string[];
  /** How long such a tool waits for its job. */
  waitMs: number;
}

/** The tools of a caller: others are not listed, and a call of them is refused. */
export function allowedTools(
  tools: readonly Tool[],
  { writes }: Plan,
  scopes: readonly Scope[],
): Tool[] {
  const isAllowed = ({ effect, name }: Tool) =>
    effect === 'reads' || writes === 'all' || (writes !== 'none' && writes.includes(name));
  return tools.filter((tool) => isAllowed(tool) && mayDo(scopes, tool.scope));
}

/** An offer permits the definitions it names, and needs no other permission of the plan. */
export function isOffered({ offers }: Plan, key: string, scopes: readonly Scope[]): boolean {
  return offers.length > 0 && mayServe(offers, key) && mayDo(scopes, 'jobs:write');
}

/** The problem with a list of names for `writes`; null when all are tools that change something. */
export function writesProblem(names: readonly string[], tools: readonly Tool[]): string | null {
  const known = tools.filter(({ effect }) => effect !== 'reads').map(({ name }) => name);
  const wrong = names.find((name) => !known.includes(name));
  return wrong === undefined ? null : unknownName('tool', wrong, known);
}
