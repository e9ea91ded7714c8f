import { WEBHOOK_KEY } from '../../core/webhook/webhook.ts';

/**
 * The rule of `core/job/system-job.ts` in SQL, where $1 is the shard and $3 the tenant: the job in
 * this queue belongs to the tenant and may be changed. `edits` is the condition for edited params.
 */
export function changeableQueue(queue: string, edits = 'false'): string {
  return `(select tenant from longshore.queue q where q.shard = $1 and q.queue = ${queue}
          and case when ${edits} then left(q.key, 1) <> '$' else q.key <> '${WEBHOOK_KEY}' end) = $3`;
}
