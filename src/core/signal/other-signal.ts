import type { EnqueueWarning } from '../definition/enqueue-warning.ts';
import { nearestName } from '../values/nearest.ts';

/** The signal is stored, but the suspended job waits for another one. Null when it is the same. */
export function otherSignal(sent: string, awaited: string): EnqueueWarning | null {
  if (sent === awaited) return null;
  const meant = nearestName(sent, [awaited]) === null ? '' : `: did you mean "${awaited}"?`;
  const detail = `the job waits for "${awaited}", and "${sent}" is stored for later${meant}`;
  return { code: 'NOT_AWAITED', detail };
}
