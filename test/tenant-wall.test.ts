import { expect, test } from 'vitest';
import { allStatements } from '../src/store/connection/db.ts';
import { parse, readSources } from './support/checks/source-tree.ts';

/**
 * The second wall between tenants. The first is the door, which decides whose things a request is
 * about; this one is in the statements: each one that a route can reach names the tenant in its own
 * text, so that a route which asks for a foreign id finds nothing, whatever it forgot. (Row-level
 * security would do it per row of the hot tables, and workers act for all tenants anyway.)
 */

/** Those that say nothing about a tenant, and why that is right. */
const WITHOUT_TENANT: Record<string, string> = {
  list_definitions: 'definitions are code, which all tenants share',
  publish_definitions: 'written by workers',
  clock: 'the time',
  stats_clock: 'the time',
  scale_clock: 'the time',
  scale_slots: 'workers are shared, and their slots are listed to all tenants',
  read_moves: 'of all tenants together; only keys of the default tenant may',
  read_spans_ever: 'of all tenants together; only keys of the default tenant may',
  read_delays: 'of all tenants together; only keys of the default tenant may',
  shard_depths: 'of all tenants together; only keys of the default tenant may',
  shard_facts: 'of all tenants together; only keys of the default tenant may',
  count_workers: 'workers are shared; only keys of the default tenant may',
  count_held: 'of all tenants together; only keys of the default tenant may',
  job_tenant: 'only for callers who may act for every tenant',
  limiters_in_use: 'of names that were given; shown to the default tenant, and to a tenant its own',
  known_definition_keys: 'definitions are code, which all tenants share',
  save_override: 'only keys of the default tenant may',
  pause: 'only keys of the default tenant may',
  pause_before: 'only keys of the default tenant may',
  resume: 'only keys of the default tenant may',
  list_pauses: 'those of other tenants are left out by the route',
  due_hint: 'a hint without content',
  drain_worker: 'workers are shared; only keys of the default tenant may',
  find_key: 'finds out whose the key is',
  any_key: 'one bit',
  retire_key: 'see lock_key',
  find_session: 'finds out whose the session is',
  live_key_marks: 'names without content, for the door alone',
  live_session_marks: 'names without content, for the door alone',
  ping: 'nothing',
  alert_defaults: 'what the configuration says, for all tenants',
  save_alert_defaults: 'written by the scheduler',
  bulk_clock: 'the time',
  dead_groups: 'of queues that were found by their tenant',
  find_by_id_beginning: 'of queues that were found by their tenant',
  find_by_id_end: 'of queues that were found by their tenant',
  recent_tags: 'of queues that were found by their tenant',
  recent_codes: 'of queues that were found by their tenant',
  list_by_run_at: 'of queues that were found by their tenant',
  list_by_priority: 'of queues that were found by their tenant',
  advance_bulk: 'written by the scheduler, see lock_due_bulk',
  next_bulk: 'written by the scheduler',
  related_parents: 'of a job that was found by its tenant, see owner_of_job',
  related_followers: 'of a job that was found by its tenant, see owner_of_job',
  related_spawner: 'of a job that was found by its tenant, see owner_of_job',
  related_failed_children: 'of a job that was found by its tenant, see owner_of_job',
  related_children: 'of a job that was found by its tenant, see owner_of_job',
  count_batch_jobs: 'of a batch that was found by its tenant, see view_batches',
  list_batch_jobs: 'of a batch that was found by its tenant, see view_batches',
  count_children: 'of a job that was found by its tenant, see owner_of_job',
  open_children: 'of a job that was found by its tenant, see cancel_waiting',
  parents_of_job: 'of a job that was found by its tenant, see ofHistory',
  children_of_job: 'of a job that was found by its tenant, see ofHistory',
  outcomes_of_jobs: 'of related jobs, which have the same tenant',
  states_of_jobs: 'of related jobs, which have the same tenant',
  next_large_values: 'run by the collector',
  forget_large_value: 'run by the collector',
  redact_paths: 'definitions are code, which all tenants share',
  // They write what was locked, or decided about, by a statement with the tenant in it.
  postpone_alert_notices: 'see silence_alert',
  catch_up_alert_notices: 'see end_alert_silence',
  store_signal: 'see lock_signalled_job',
  read_one_step: 'of a job that was found by its tenant, or by the secret of a link',
  read_signal_links: 'of a job that was found by its tenant',
  update_schedule: 'see lock_schedule',
  delete_schedule: 'see lock_schedule',
  delete_slots: 'see lock_schedule',
  schedule_fired: 'see lock_schedule',
  insert_slots: 'see lock_schedule',
  prune_slots: 'written by the scheduler',
};

test('every statement that a route can reach names the tenant, or has a reason not to', async () => {
  const files = new Set(
    readSources('src/http')
      .filter(({ path }) => !path.endsWith('.test.ts'))
      .flatMap((source) => parse(source).imports)
      .filter(({ target, typeOnly }) => target.startsWith('src/store/') && !typeOnly)
      .map(({ target }) => target),
  );
  expect(files.size).toBeGreaterThan(15);
  const reached: string[] = [];
  for (const file of files) {
    await import(new URL(`../${file}`, import.meta.url).href);
    const source = readSources('src/store').find(({ path }) => path === file)?.source ?? '';
    const names = [...source.matchAll(/statement(?:<[^(]*>)?\(\s*'(\w+)'/g)].map(
      ([, name]) => name,
    );
    reached.push(...names.map(String));
  }
  const nameless = allStatements.filter(
    ({ name, text }) => reached.includes(name) && !/\btenant\b/.test(text),
  );
  expect(nameless.map(({ name }) => name).filter((name) => !(name in WITHOUT_TENANT))).toEqual([]);
  expect(reached.length).toBeGreaterThan(30);
});
