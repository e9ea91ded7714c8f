import { isSystemKey } from '../definition/hooks.ts';
import { nearestName } from '../values/nearest.ts';
import type { WorkerView } from '../queue/worker.ts';

/** What is known of definitions: published ones, and those that workers have loaded. */
export interface KnownDefinitions {
  definitions: readonly { key: string }[];
  workers: readonly Pick<WorkerView, 'definitions'>[];
}

/** The known definition with the nearest name. */
export interface UnknownDefinition {
  nearest: string | null;
}

/** Null if a worker has registered the definition, now or before. */
export function unknownDefinition(
  key: string,
  { definitions, workers }: KnownDefinitions,
): UnknownDefinition | null {
  const loaded = workers.flatMap((worker) => worker.definitions.map(keyOf));
  const known = new Set([...definitions.map((one) => one.key), ...loaded]);
  if (known.has(key) || isSystemKey(key)) return null;
  return { nearest: nearestName(key, [...known]) };
}

/** `No worker has registered “helo”: did you mean “hello”?` */
export function unknownWords(key: string, { nearest }: UnknownDefinition): string {
  const hint = nearest === null ? '.' : `: did you mean “${nearest}”?`;
  return `No worker has registered “${key}”${hint}`;
}

function keyOf(name: string): string {
  return name.replace(/@\d+$/, '');
}
