import type { Longshore } from '../../client/index.ts';
import { misspeltTerms, misspeltWords } from '../../core/search/misspelt.ts';
import { unknownName } from '../../core/values/nearest.ts';
import type { Output } from '../text/output.ts';

/** `unknown definition "helo": did you mean "hello"?`, or null for a definition of a worker. */
export async function unknownDefinition(client: Longshore, key: string): Promise<string | null> {
  const keys = [...new Set((await client.definitions()).map((one) => one.key))];
  return keys.includes(key) ? null : unknownName('definition', key, keys);
}

/** Names values of an empty search that no job has and that are near to some that exist. */
export async function noteMisspelt(
  out: Output,
  client: Longshore,
  q: string | undefined,
): Promise<void> {
  if (out.json || q === undefined) return;
  const known = await client.searchValues().catch(() => null);
  for (const one of known ? misspeltTerms(q, known) : []) {
    out.note(`${out.paint('yellow', 'warning:', 'stderr')} ${misspeltWords(one)}`);
  }
}

/**
 * Says that a command names a definition which no worker has registered: it may be registered
 * later, so this is no error. Asks the server only if a person could read the answer.
 */
export async function noteUnknown(
  out: Output,
  client: Longshore,
  keys: string | readonly string[] | undefined,
): Promise<void> {
  if (out.json || keys === undefined) return;
  for (const key of typeof keys === 'string' ? [keys] : keys) {
    // A key may not be allowed to read definitions; the command itself has succeeded.
    const words = await unknownDefinition(client, key).catch(() => null);
    if (words !== null) out.note(`${out.paint('yellow', 'warning:', 'stderr')} ${words}`);
  }
}
