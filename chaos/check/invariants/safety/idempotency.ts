import type { Enqueue } from '../../operations.ts';
import { invariant } from '../../invariant.ts';

/**
 * Requests that were sent again after an unknown result carry the same key, or the same request id, and the
 * same params, which no other request has.
 */
export const idempotency = invariant(
  'S3',
  'One key makes one job: every answer names the same one, and other params are refused.',
  function* ({ enqueues, records }) {
    const jobs = new Map<string, string[]>();
    for (const { id, final } of records.values()) {
      if (final && final.key !== null) push(jobs, final.key, id);
    }
    for (const [key, ids] of jobs) {
      if (ids.length > 1) yield { job: ids[0] ?? '', text: `${ids.length} jobs have key ${key}` };
    }
    const same = new Map<string, string[]>();
    for (const { id, final } of records.values()) if (final) push(same, final.paramsSha, id);
    const keyed = enqueues.filter(({ call }) => call.key !== null);
    for (const paramsSha of new Set(keyed.map(({ call }) => call.jobs[0]?.paramsSha ?? ''))) {
      const [job = '', ...more] = same.get(paramsSha) ?? [];
      if (more.length > 0)
        yield { job, text: `${more.length + 1} jobs have the params of one request` };
    }
    const answered = new Map<string, Enqueue[]>();
    for (const enqueue of enqueues) {
      if (enqueue.result === 'ok' && enqueue.call.key !== null) {
        push(answered, enqueue.call.key, enqueue);
      }
    }
    for (const [key, oks] of answered) {
      const ids = new Set(oks.map((ok) => ok.jobs[0]?.id ?? ''));
      if (ids.size > 1) yield { text: `key ${key} was answered with ${[...ids].join(' and ')}` };
      const bodies = new Set(oks.map((ok) => ok.call.jobs[0]?.paramsSha));
      if (bodies.size > 1) yield { text: `key ${key} was accepted with other params` };
    }
  },
);

function push<T>(lists: Map<string, T[]>, key: string, item: T): void {
  const list = lists.get(key);
  if (list) list.push(item);
  else lists.set(key, [item]);
}
