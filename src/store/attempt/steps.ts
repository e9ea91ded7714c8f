import { rejectedSignal, signalStep } from '../../core/job/signal.ts';
import { type Queryable, statement } from '../connection/db.ts';

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
  steps: { name: string; valueJson: string }[];
}

/** The name under which the checkpoint is stored; no step can have it. */
const CHECKPOINT = '';

/** Fenced like log lines (`store/attempt/log-chunks.ts`). Only the checkpoint is overwritten. */
const SAVE = statement<{ id: string }>(
  'save_step',
  `with owned as materialized (
    select r.id from longshore.running r
    where r.shard = $1 and r.id = $2 and r.claim_no = $3
    limit 1 for share
  ),
  saved as (
    insert into longshore.step as s (shard, job_id, claim_no, name, at, value, duration_ms)
    select $1, id, $3, $4, clock_timestamp(), $5::json, $6 from owned
    on conflict (shard, job_id, name) do update
      set claim_no = excluded.claim_no, at = excluded.at, value = excluded.value
      where s.name = '${CHECKPOINT}'
  )
  select id from owned`,
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
  if (step.name === CHECKPOINT) throw new TypeError('a step needs a name');
  const { id, claim, name, valueJson, durationMs = null } = step;
  const rejected = name === null ? null : rejectedSignal(name);
  if (rejected !== null) {
    const facts = [shard, id, claim, name, valueJson, signalStep(rejected)];
    return (await db.run(REJECT, facts)).length > 0;
  }
  const values = [shard, id, claim, name ?? CHECKPOINT, valueJson, durationMs];
  return (await db.run(SAVE, values)).length > 0;
}

const LOAD = statement<{ name: string; valueJson: string }>(
  'load_steps',
  `select name, value::text as "valueJson" from longshore.step
   where shard = $1 and job_id = $2 order by at`,
);

/** What earlier attempts stored, the oldest first. */
export async function loadSteps(db: Queryable, shard: number, id: string): Promise<SavedSteps> {
  const rows = await db.run(LOAD, [shard, id]);
  return {
    checkpointJson: rows.find(({ name }) => name === CHECKPOINT)?.valueJson ?? null,
    steps: rows.filter(({ name }) => name !== CHECKPOINT),
  };
}
