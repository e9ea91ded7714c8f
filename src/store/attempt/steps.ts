import { type Queryable, statement } from '../connection/db.ts';

export interface StepWrite {
  id: string;
  claim: number;
  /** Null is the checkpoint. */
  name: string | null;
  valueJson: string;
}

export interface SavedSteps {
  checkpointJson: string | null;
  steps: { name: string; valueJson: string }[];
}

/** The name that the checkpoint is stored under, which no step can have. */
const CHECKPOINT = '';

/** Fenced as lines are (`store/attempt/log-chunks.ts`). Only the checkpoint is ever overwritten. */
const SAVE = statement<{ id: string }>(
  'save_step',
  `with owned as materialized (
    select r.id from longshore.running r
    where r.shard = $1 and r.id = $2 and r.claim_no = $3
    limit 1 for share
  ),
  saved as (
    insert into longshore.step as s (shard, job_id, claim_no, name, at, value)
    select $1, id, $3, $4, clock_timestamp(), $5::json from owned
    on conflict (shard, job_id, name) do update
      set claim_no = excluded.claim_no, at = excluded.at, value = excluded.value
      where s.name = '${CHECKPOINT}'
  )
  select id from owned`,
);

/** False: this claim no longer owns the job, and nothing was stored. */
export async function saveStep(db: Queryable, shard: number, step: StepWrite): Promise<boolean> {
  if (step.name === CHECKPOINT) throw new TypeError('a step needs a name');
  const values = [shard, step.id, step.claim, step.name ?? CHECKPOINT, step.valueJson];
  return (await db.run(SAVE, values)).length > 0;
}

const LOAD = statement<{ name: string; valueJson: string }>(
  'load_steps',
  `select name, value::text as "valueJson" from longshore.step
   where shard = $1 and job_id = $2 order by at`,
);

/** What earlier attempts of the job have stored, the oldest first. */
export async function loadSteps(db: Queryable, shard: number, id: string): Promise<SavedSteps> {
  const rows = await db.run(LOAD, [shard, id]);
  return {
    checkpointJson: rows.find(({ name }) => name === CHECKPOINT)?.valueJson ?? null,
    steps: rows.filter(({ name }) => name !== CHECKPOINT),
  };
}
