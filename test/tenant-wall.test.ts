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
const OF_NOBODY: Record<string, string> = {
  list_definitions: 'definitions are code, which all tenants share',
  publish_definitions: 'written by workers',
  clock: 'the time',
  stats_clock: 'the time',
  read_moves: 'of all tenants together; only keys of the host tenant may',
  read_spans_ever: 'of all tenants together; only keys of the host tenant may',
  read_delays: 'of all tenants together; only keys of the host tenant may',
  count_workers: 'workers are shared; only keys of the host tenant may',
  limiters_in_use: 'of names that were given; only told to keys of the host tenant',
  known_definition_keys: 'definitions are code, which all tenants share',
  save_override: 'only keys of the host tenant may',
  pause: 'only keys of the host tenant may',
  resume: 'only keys of the host tenant may',
  list_pauses: 'those of other tenants are left out by the route',
  due_hint: 'a hint without content',
  drain_worker: 'workers are shared; only keys of the host tenant may',
  find_key: 'finds out whose the key is',
  any_key: 'one bit',
  retire_key: 'see lock_key',
  find_session: 'finds out whose the session is',
  live_key_marks: 'names without content, for the door alone',
  live_session_marks: 'names without content, for the door alone',
  insert_session: 'for a key that was just shown',
  end_session: 'by the secret of the session itself',
  ping: 'nothing',
  alert_defaults: 'what the configuration says, for all tenants',
  save_alert_defaults: 'written by the scheduler',
  bulk_clock: 'the time',
  dead_groups: 'of queues that were found by their tenant',
  list_by_run_at: 'of queues that were found by their tenant',
  list_by_priority: 'of queues that were found by their tenant',
  advance_bulk: 'written by the scheduler, see lock_due_bulk',
  next_bulk: 'written by the scheduler',
  redact_paths: 'definitions are code, which all tenants share',
  // They write what was locked, or decided about, by a statement with the tenant in it.
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
  expect(nameless.map(({ name }) => name).filter((name) => !(name in OF_NOBODY))).toEqual([]);
  expect(reached.length).toBeGreaterThan(30);
});
