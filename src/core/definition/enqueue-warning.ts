import { nearestName } from '../values/nearest.ts';
import { FIRST_SHAPE } from '../shape/upgrade.ts';

/** The job was stored, but the caller should know this. */
export interface EnqueueWarning {
  code: string;
  detail: string;
}

/** What workers have registered: the keys, and the versions of each. */
export type Registered = ReadonlyMap<string, readonly number[]>;

/** No worker has registered the definition. The job waits, since its worker may start later. */
export function unregistered(
  key: string,
  version: number | null,
  registered: Registered,
  suggests = true,
): EnqueueWarning {
  const versions = registered.get(key);
  const detail = versions
    ? `no worker has registered version ${version} of "${key}": registered are ${versions.join(', ')}`
    : `no worker has registered "${key}"${suggests ? suggestion(key, [...registered.keys()]) : ''}`;
  return { code: 'UNREGISTERED', detail };
}

/** The code of the workers is older than the params of the job, which waits for newer code. */
export function newerShape(
  { definitionKey, paramsShape }: { definitionKey: string; paramsShape: number | null },
  { paramsShape: current = FIRST_SHAPE }: { paramsShape?: number },
): EnqueueWarning[] {
  if (paramsShape === null || paramsShape <= current) return [];
  const detail = `the params have shape ${paramsShape}, and the registered code of "${definitionKey}" has shape ${current}: the job waits for a worker with newer code`;
  return [{ code: 'PARAMS_NEWER', detail }];
}

function suggestion(key: string, known: readonly string[]): string {
  const nearest = nearestName(key.slice(0, 60), known);
  return nearest === null ? '' : `: did you mean "${nearest}"?`;
}
