import type { JobState } from '../../core/job/job.ts';
import { isJobId, shardOfJobId } from '../../core/job/job-id.ts';
import {
  type DeliveryEvent,
  type DeliveryResult,
  type DeliveryStatus,
  type DeliveryView,
  type Send,
  TEST_EVENT,
  WEBHOOK_KEY,
  DELIVERY_MAX_ATTEMPTS,
} from '../../core/webhook/webhook.ts';
import type { CloudEvent, DeliveryParams } from '../../core/webhook/webhook-event.ts';
import { type Actor, audited } from '../access/audit.ts';
import { type Db, type Queryable, statement } from '../connection/db.ts';
import { sendDueHint } from '../connection/due-hint.ts';
import { withPartitions } from '../connection/partitions.ts';
import { moves, counters } from '../counters/counter-moves.ts';
import { filterOnly } from '../connection/planner.ts';
import type { Vault } from '../connection/vault.ts';
import { sendWakeHint } from '../connection/wake.ts';

/**
 * Deliveries are jobs whose parent is their webhook. The sent event is the step `event`, the
 * result is the checkpoint, or if the first send arrived, the result (`webhooks/delivery-job.ts`).
 */
interface DeliveryRow {
  id: string;
  event: DeliveryEvent;
  params: DeliveryParams;
  request: CloudEvent | null;
  sends: Send[] | null;
  result: DeliveryResult | null;
  state: JobState;
  created_at: Date;
  run_at: Date | null;
  finished_at: Date | null;
}

/** Jobs whose parent is a row of the table, with what they sent. $3 is its `key`. */
export const sentJobs = (table: 'webhook' | 'alert_route', key: 'id' | 'name') =>
  `select j.id, j.hook as event, j.params, j.created_at, e.value as request, c.value as sends, f.result,
     coalesce(w.state, r.state, f.state) as state, w.run_at, f.finished_at
   from longshore.${table} h
   cross join lateral (
     select id, hook, params, created_at from longshore.job
     where shard = $1 and parent_id = h.id
       and id < coalesce($4::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
     order by id desc limit $5
   ) j
   left join lateral (
     select state, run_at from longshore.waiting where shard = $1 and id = j.id limit 1
   ) w on true
   left join lateral (
     select state from longshore.running where shard = $1 and id = j.id limit 1
   ) r on true
   left join lateral (
     select state, finished_at, result from longshore.done where shard = $1 and id = j.id limit 1
   ) f on true
   left join lateral (
     select value from longshore.step where shard = $1 and job_id = j.id and name = 'event' limit 1
   ) e on true
   left join lateral (
     select value from longshore.step where shard = $1 and job_id = j.id and name = '' limit 1
   ) c on true
   where h.tenant = $2 and h.${key} = $3
   order by j.id desc`;

const LIST = statement<DeliveryRow>('list_deliveries', sentJobs('webhook', 'id'));

/** The newest first. */
export async function listDeliveries(
  db: Db,
  tenant: string,
  webhookId: string,
  { afterId, limit }: { afterId: string | null; limit: number },
): Promise<{ deliveries: DeliveryView[]; nextId: string | null }> {
  const found: DeliveryRow[] = [];
  for (let shard = 0; shard < db.shards; shard += 1) {
    found.push(...(await db.run(LIST, [shard, tenant, webhookId, afterId, limit + 1])));
  }
  found.sort((a, b) => (a.id < b.id ? 1 : -1));
  const deliveries = found.slice(0, limit).map((row) => viewOf(opened(db.vault, tenant, row)));
  return { deliveries, nextId: found.length > limit ? (deliveries.at(-1)?.id ?? null) : null };
}

/** $1 shard, $2 the new id, $3 tenant, $4 webhook; `of` is its source. */
const made = (of: string, maxAttempts: number) => `
  with clock as materialized (select clock_timestamp() as at),
  home as materialized (
    select h.id as webhook, l.queue from longshore.webhook h cross join lateral (
      select queue from longshore.queue
      where shard = $1 and key = '${WEBHOOK_KEY}' and version = 1 and tenant = h.tenant limit 1
    ) l
    where h.tenant = $3 and h.id = $4
  ),
  of as materialized (${of}),
  body as (
    insert into longshore.job (shard, id, queue, params, parent_id, hook, created_at)
    select $1, $2, h.queue, of.params, h.webhook, of.event, c.at
    from clock c, home h, of where of.params is not null
  ),
  level as (
    insert into longshore.waiting (shard, id, queue, state, rank, seq, max_attempts, queued_at)
    select $1, $2, h.queue, 'queued', 0, (extract(epoch from c.at) * 1000000)::bigint,
      ${maxAttempts}, c.at
    from clock c, home h, of where of.params is not null
  ),
  ${counters(moves('null', "'queued'", 'home, of where of.params is not null'))}
  select h.queue, of.params is not null as made from home h, of`;

interface MadeRow {
  queue: number;
  made: boolean;
}

const TEST = statement<MadeRow>(
  'test_webhook',
  made(
    `select '${TEST_EVENT}' as event, json_build_object('webhookId', $4::uuid,
       'event', '${TEST_EVENT}', 'jobId', null, 'at', at, 'byHand', true) as params from clock`,
    1,
  ),
);

/** An event without content, sent once, also to an inactive webhook. */
export async function makeTest(
  db: Db,
  by: Actor,
  tenant: string,
  webhookId: string,
): Promise<string | null> {
  const id = db.ids.next(0);
  const row = await make(db, by, 'webhook.test', { tenant, webhookId, id }, async (tx) =>
    tx.run(TEST, [0, id, tenant, webhookId]),
  );
  return row?.made ? id : null;
}

const REDELIVER = statement<MadeRow>(
  'redeliver',
  made(
    `select j.hook as event, case when coalesce(j.params -> 'envelope', e.value) is not null then
       json_build_object('webhookId', $4::uuid, 'event', j.hook, 'jobId', j.params -> 'jobId',
         'at', j.params -> 'at', 'byHand', true, 'redeliveryOf', $5::uuid,
         'envelope', coalesce(j.params -> 'envelope', e.value)) end as params
     from home h cross join lateral (
       select hook, params from longshore.job
       where shard = $1 and id = $5 and parent_id = h.webhook limit 1
     ) j
     left join lateral (
       select value from longshore.step where shard = $1 and job_id = $5 and name = 'event' limit 1
     ) e on true`,
    DELIVERY_MAX_ATTEMPTS,
  ),
);

/** A delivery that waits for its next try has it now, unless its webhook is paused. */
const HURRY = statement<{ id: string }>(
  'hurry_delivery',
  `update longshore.waiting w set run_at = clock_timestamp()
   where w.shard = $1 and w.id = $2 and ${filterOnly("w.state = 'retrying'")} and exists (
     select 1 from longshore.webhook h cross join lateral (
       select id from longshore.job where shard = $1 and id = $2 and parent_id = h.id limit 1
     ) j
     where h.tenant = $3 and h.id = $4 and h.status = 'active'
   )
   returning w.id`,
);

async function hurry(
  db: Db,
  by: Actor,
  tenant: string,
  webhookId: string,
  id: string,
): Promise<boolean> {
  const shard = shardOfJobId(id);
  const entry = { tenant, action: 'webhook.redeliver', subject: webhookId };
  const moved = await audited(
    db,
    by,
    async (tx) => await tx.run(HURRY, [shard, id, tenant, webhookId]),
    (rows) => (rows.length > 0 ? { ...entry, after: { deliveryId: id } } : null),
  );
  if (moved.length === 0) return false;
  await sendDueHint(db, { kind: 'jobs', inMs: 0, shard }).catch(() => undefined);
  return true;
}

/**
 * Sends the same event again: at once if the delivery waits for its next try, else as a new delivery
 * with a new id, because a receiver may drop an id that it has seen. `unsent` when it was never
 * tried.
 */
export async function redeliver(
  db: Db,
  by: Actor,
  tenant: string,
  webhookId: string,
  deliveryId: string,
): Promise<{ id: string } | 'unsent' | null> {
  if (!isJobId(deliveryId)) return null;
  const shard = shardOfJobId(deliveryId);
  if (shard >= db.shards) return null;
  if (await hurry(db, by, tenant, webhookId, deliveryId)) return { id: deliveryId };
  const id = db.ids.next(shard);
  const row = await make(db, by, 'webhook.redeliver', { tenant, webhookId, id }, async (tx) =>
    tx.run(REDELIVER, [shard, id, tenant, webhookId, deliveryId]),
  );
  if (!row) return null;
  return row.made ? { id } : 'unsent';
}

async function make(
  db: Db,
  by: Actor,
  action: string,
  { tenant, webhookId, id }: { tenant: string; webhookId: string; id: string },
  work: (tx: Queryable) => Promise<MadeRow[]>,
): Promise<MadeRow | null> {
  const entry = { tenant, action, subject: webhookId, after: { deliveryId: id } };
  const [row] = await withPartitions(db, async () =>
    audited(db, by, work, ([done]) => (done?.made ? entry : null)),
  );
  const level = row?.made ? [{ shard: shardOfJobId(id), queue: row.queue, rank: 0 }] : [];
  if (level.length > 0) await sendWakeHint(db, level).catch(() => undefined);
  return row ?? null;
}

export const STATUS_OF: Readonly<Partial<Record<JobState, DeliveryStatus>>> = {
  retrying: 'retrying',
  succeeded: 'delivered',
  failed: 'failed',
  cancelled: 'failed',
};

function opened(vault: Vault, tenant: string, row: DeliveryRow): DeliveryRow {
  const params = vault.show(tenant, row.params) as DeliveryParams;
  const request = vault.show(tenant, row.request) as CloudEvent | null;
  const sends = vault.show(tenant, row.sends);
  const result = vault.show(tenant, row.result) as DeliveryResult | null;
  return {
    ...row,
    params,
    request,
    result,
    sends: Array.isArray(sends) ? (sends as Send[]) : null,
  };
}

function viewOf(delivery: DeliveryRow): DeliveryView {
  const { id, event, params, request, sends, result, state, ...row } = delivery;
  return {
    id,
    webhookId: params.webhookId,
    event,
    jobId: params.jobId,
    status: STATUS_OF[state] ?? 'pending',
    redeliveryOf: params.redeliveryOf ?? null,
    request: params.envelope ?? request,
    attempts: sends ?? (result?.send ? [result.send] : []),
    createdAt: row.created_at.toISOString(),
    nextAttemptAt: row.run_at?.toISOString() ?? null,
    finishedAt: row.finished_at?.toISOString() ?? null,
  };
}
