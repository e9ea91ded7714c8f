import type { Client } from 'pg';
import { makeJobId } from '../../../src/core/job/job-id.ts';
import { isTerminal, type JobState, OWNED_STATES } from '../../../src/core/job/job.ts';

/**
 * Rows as no code of ours writes them: any state, by plain SQL. They satisfy every CHECK, so that
 * what refuses them is the guard and nothing else.
 */
type Row = Record<string, unknown>;

export function tableOf(state: JobState): 'waiting' | 'running' | 'done' {
  if (isTerminal(state)) return 'done';
  return (OWNED_STATES as readonly JobState[]).includes(state) ? 'running' : 'waiting';
}

export function rawRow(id: string, state: JobState, claimNo: number): Row {
  const now = new Date();
  const queued = state === 'queued';
  const common = {
    shard: 0,
    id,
    queue: 1,
    state,
    rank: 0,
    attempts: 1,
    max_attempts: 3,
    claim_no: claimNo,
    interruptions: 0,
  };
  switch (tableOf(state)) {
    case 'waiting':
      return {
        ...common,
        seq: queued ? 1 : null,
        queued_at: queued ? now : null,
        run_at: queued || state === 'created' ? null : now,
        waits_for: state === 'suspended' ? 'go' : null,
      };
    case 'running':
      return {
        ...common,
        queued_at: now,
        worker: id,
        started_at: now,
        cancel_requested_at: state === 'cancelling' ? now : null,
      };
    case 'done':
      return {
        ...common,
        finished_at: now,
        cancel_requested_at: state === 'cancelled' ? now : null,
        error_code: state === 'failed' ? 'CRASHED' : null,
        error: state === 'failed' ? '{}' : null,
        result: state === 'succeeded' ? '1' : null,
      };
  }
}

let made = 0;

export async function insertBody(client: Client): Promise<string> {
  made += 1;
  const id = makeJobId({ timeMs: Date.now(), sequence: 0, random: [0, made], shard: 0 });
  await client.query(
    `insert into longshore.job (shard, id, queue, params, created_at)
     values (0, $1, 1, '{}', now())`,
    [id],
  );
  return id;
}

export async function insertRow(client: Client, table: string, row: Row): Promise<void> {
  const names = Object.keys(row);
  const marks = names.map((_, index) => `$${index + 1}`);
  await client.query(
    `insert into longshore.${table} (${names.join(', ')}) values (${marks.join(', ')})`,
    Object.values(row),
  );
}

/** Moves a row as its tables allow: within one by an update, else out of one into the other. */
export async function moveRow(
  client: Client,
  from: JobState,
  to: { id: string; state: JobState; claimNo: number },
): Promise<void> {
  const target = tableOf(to.state);
  const row = rawRow(to.id, to.state, to.claimNo);
  if (tableOf(from) === target) {
    const sets = Object.keys(row).map((name, index) => `${name} = $${index + 2}`);
    const values = [to.id, ...Object.values(row)];
    await client.query(`update longshore.${target} set ${sets.join(', ')} where id = $1`, values);
  } else {
    await client.query(`delete from longshore.${tableOf(from)} where id = $1`, [to.id]);
    await insertRow(client, target, row);
  }
}
