import type { Client } from 'pg';
import { FIRST_STATES, TRANSITIONS } from '../../../src/core/job/transitions.ts';

/** The tables that the triggers are on, and those that they read. */
type GuardedTables = Record<'job' | 'waiting' | 'running' | 'done', string>;

const LOGICAL: GuardedTables = {
  job: 'longshore.job',
  waiting: 'longshore.waiting',
  running: 'longshore.running',
  done: 'longshore.done',
};

/**
 * Test-only triggers that hold PostgreSQL to the table in `core/job/lifecycle.ts`. They are
 * deferred, so they check each transaction as a whole: which table a job's row left, which it
 * entered, and that it is in exactly one at commit. An illegal transition fails the commit of the
 * test that made it.
 */
export async function installGuard(
  client: Client,
  { job, waiting, running, done }: GuardedTables = LOGICAL,
): Promise<void> {
  await client.query(`
    create schema guard;
    create table guard.legal (old_state longshore.job_state, new_state longshore.job_state,
      primary key (old_state, new_state));
    create table guard.first_state (state longshore.job_state primary key);

    create function guard.check_move() returns trigger language plpgsql as $$
    declare
      moved_id uuid := coalesce(new.id, old.id);
      places integer;
      arrived longshore.job_state;
      arrived_claim integer;
    begin
      select count(*), min(state), min(claim_no) into places, arrived, arrived_claim from (
        select state, claim_no from ${waiting} where id = moved_id
        union all select state, claim_no from ${running} where id = moved_id
        union all select state, claim_no from ${done} where id = moved_id
      ) spots;
      if places <> 1 and exists (select 1 from ${job} where id = moved_id) then
        raise exception 'guard: job % is in % places', moved_id, places;
      end if;
      if tg_op = 'INSERT' then return null; end if;
      if places = 0 then return null; end if;
      if old.state <> arrived and not exists (
        select 1 from guard.legal where old_state = old.state and new_state = arrived
      ) then
        raise exception 'guard: illegal move of job % from % to %', moved_id, old.state, arrived;
      end if;
      if arrived_claim < old.claim_no then
        raise exception 'guard: claim number of job % went back', moved_id;
      end if;
      if old.state = 'queued' and arrived = 'running' and arrived_claim <> old.claim_no + 1 then
        raise exception 'guard: a claim of job % did not take a new number', moved_id;
      end if;
      return null;
    end $$;

    create function guard.check_birth() returns trigger language plpgsql as $$
    declare
      born longshore.job_state;
    begin
      select state into born from (
        select state from ${waiting} where id = new.id
        union all select state from ${running} where id = new.id
        union all select state from ${done} where id = new.id
      ) spots;
      if born is null or not exists (select 1 from guard.first_state where state = born) then
        raise exception 'guard: job % was born in state %', new.id, coalesce(born::text, 'none');
      end if;
      return null;
    end $$;

    create constraint trigger guard_birth after insert on ${job}
      deferrable initially deferred for each row execute function guard.check_birth();
  `);
  for (const table of [waiting, running, done]) {
    await client.query(`
      create constraint trigger guard_move after insert or update or delete on ${table}
      deferrable initially deferred for each row execute function guard.check_move()`);
  }
  for (const { from, to } of TRANSITIONS) {
    await client.query('insert into guard.legal values ($1, $2) on conflict do nothing', [
      from,
      to,
    ]);
  }
  for (const state of FIRST_STATES) {
    await client.query('insert into guard.first_state values ($1)', [state]);
  }
}
