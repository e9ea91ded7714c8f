import { setTimeout as pause } from 'node:timers/promises';

/** What the model sees: the task, and what was done for it so far. */
export interface Turn {
  action: Action;
  seen: string;
}

export type Action =
  | { tool: 'search'; word: string }
  | { tool: 'read'; page: string }
  | { tool: 'answer'; text: string };

/**
 * Stands for a call to a language model, so that the example costs nothing and needs no key. Like one
 * it is slow, is refused now and then (429), and does not say the same thing twice: it chooses at
 * random what to do next. Put the call to your provider here; the job stays as it is.
 */
export async function decide(
  question: string,
  turns: readonly Turn[],
  signal: AbortSignal,
): Promise<Action> {
  await pause(20 + 40 * Math.random(), undefined, { signal });
  if (Math.random() < 0.1) {
    throw Object.assign(new Error('too many requests'), {
      status: 429,
      headers: { 'retry-after': '0' },
    });
  }
  const done = turns.map(({ action }) => JSON.stringify(action));
  const words = question.toLowerCase().match(/[a-z]{5,}/g) ?? [];
  const found = turns.flatMap(({ action, seen }) =>
    action.tool === 'search' ? seen.split('\n').filter(Boolean) : [],
  );
  const ideas: Action[] = [
    ...words.map((word) => ({ tool: 'search', word }) as const),
    ...[...new Set(found)].map((page) => ({ tool: 'read', page }) as const),
  ].filter((action) => !done.includes(JSON.stringify(action)));
  const read = turns.filter(({ action }) => action.tool === 'read');
  if (read.length >= 4 || ideas.length === 0) {
    const pages = read.map(({ action, seen }) => {
      return `- ${action.tool === 'read' ? action.page : ''}: ${seen.split('\n')[0]}`;
    });
    return { tool: 'answer', text: pages.toSorted().join('\n') };
  }
  return ideas[Math.floor(Math.random() * ideas.length)] as Action;
}
