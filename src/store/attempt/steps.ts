import { rejectedSignal, signalStep } from '../../core/job/signal.ts';
import { arrayText, type Queryable, statement } from '../connection/db.ts';
import { inLockOrder } from '../connection/lock-order.ts';

export interface StepWrite {
  id: string;
  claim: number;
  /** Null is the checkpoint. */
  name: string | null;
  valueJson: string;
  /** How long the step ran; not for the checkpoint. */
  durationMs?: number | null | undefined;
}

export interface SavedSteps {
  checkpointJson: string | null;
  /** The age is measured by the database's clock. */
  steps: { name: string; valueJson: string; ageMs: number }[];
}

/** The name under which the checkpoint is stored; no step can have it. */
const CHECKPOINT = '';

/** Fenced like log lines (`store/attempt/log-chunks.ts`). Only the checkpoint is overwritten. */
const SAVE = statement<{ id: string; claim: number }>(
  'save_steps',
  `with given as materialized (
    select * from unnest($2::uuid[], $3::int[], $4::text[], $5::text[], $6::int[])
      as g(id, claim, name, value, duration_ms)
  ),
  owned as materialized (
    select g.* from given g cross join lateral (
      select 1 from longshore.running r
      where r.shard = $1 and r.id = g.id and r.claim_no = g.claim
      limit 1 for share
    ) r
  ),
  saved as (
    insert into longshore.step as s (shard, job_id, claim_no, name, at, value, duration_ms)
    select $1, id, claim, name, clock_timestamp(), value::json, duration_ms from owned
    on conflict (shard, job_id, name) do update
      set claim_no = excluded.claim_no, at = excluded.at, value = excluded.value
      where s.name = '${CHECKPOINT}'
  )
  select id, claim from owned`,
);

/**
 * Discards a signal and keeps the reason. A repeated call of the same claim discards nothing more: a
 * better signal may have arrived since.
 */
const REJECT = statement<{ id: string }>(
  'reject_signal',
  `with owned as materialized (
    select r.id from longshore.running r
    where r.shard = $1 and r.id = $2 and r.claim_no = $3
    limit 1 for share
  ),
  noted as (
    insert into longshore.step (shard, job_id, claim_no, name, at, value)
    select $1, id, $3, $4 || ':' || $3, clock_timestamp(), $5::json from owned
    on conflict (shard, job_id, name) do nothing returning name
  ),
  discarded as (
    delete from longshore.step
    where shard = $1 and job_id = $2 and name = $6 and exists (select 1 from noted)
  )
  select id from owned`,
);

/** False when this claim no longer owns the job; then nothing was stored. */
export async function saveStep(db: Queryable, shard: number, step: StepWrite): Promise<boolean> {
  const { id, claim, name, valueJson } = step;
  const rejected = name === null ? null : rejectedSignal(name);
  if (rejected !== null) {
    const facts = [shard, id, claim, name, valueJson, signalStep(rejected)];
    return (await db.run(REJECT, facts)).length > 0;
  }
  return (await saveSteps(db, shard, [step]))[0] ?? false;
}

/** The same for many, in one statement; none of them discards a signal. All are stored or none. */
export async function saveSteps(
  db: Queryable,
  shard: number,
  steps: readonly StepWrite[],
): Promise<boolean[]> {
  if (steps.some(({ name }) => name === CHECKPOINT)) throw new TypeError('a step needs a name');
  const batch = inLockOrder(steps);
  const owned = await db.run(SAVE, [
    shard,
    arrayText(batch.map(({ id }) => id)),
    arrayText(batch.map(({ claim }) => claim)),
    batch.map(({ name }) => name ?? CHECKPOINT),
    batch.map(({ valueJson }) => valueJson),
    arrayText(batch.map(({ durationMs }) => durationMs ?? null)),
  ]);
  const stored = new Set(owned.map(({ id, claim }) => `${id} ${claim}`));
  return steps.map(({ id, claim }) => stored.has(`${id} ${claim}`));
}

const LOAD = statement<SavedSteps['steps'][number]>(
  'load_steps',
  `select name, value::text as "valueJson",
     (extract(epoch from clock_timestamp() - at) * 1000)::float8 as "ageMs"
   from longshore.step where shard = $1 and job_id = $2 order by at`,
);

/** What earlier attempts stored, the oldest first. */
export async function loadSteps(db: Queryable, shard: number, id: string): Promise<SavedSteps> {
  const rows = await db.run(LOAD, [shard, id]);
  return {
    checkpointJson: rows.find(({ name }) => name === CHECKPOINT)?.valueJson ?? null,
    steps: rows.filter(({ name }) => name !== CHECKPOINT),
  };
}
