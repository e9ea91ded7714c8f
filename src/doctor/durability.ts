import { type Check, ok, problem } from './check.ts';

export interface DurabilityFacts {
  fsync: string;
  fullPageWrites: string;
  synchronousCommit: string;
}

/**
 * An acknowledged job is durable only if the database syncs to disk. All values of
 * `synchronous_commit` except `off` do; they differ in what they require of standbys.
 */
export function judgeDurability(facts: DurabilityFacts): Check {
  const values = {
    fsync: facts.fsync,
    full_page_writes: facts.fullPageWrites,
    synchronous_commit: facts.synchronousCommit,
  };
  const settings = Object.entries(values).map(([name, value]) => ({ name, value }));
  const off = settings.filter(({ value }) => value === 'off').map(({ name }) => name);
  if (off.length === 0) {
    return ok('durability', settings.map(({ name, value }) => `${name} ${value}`).join(', '));
  }
  const names = off.join(', ');
  return problem(
    'durability',
    `${names} off: a crash of the server may lose acknowledged jobs`,
    `enable ${names} in postgresql.conf, or where ALTER DATABASE or ALTER ROLE disabled it`,
  );
}
