import { type Check, ok, problem } from './check.ts';

export interface DurabilityFacts {
  fsync: string;
  fullPageWrites: string;
  synchronousCommit: string;
}

/**
 * The answer to an enqueue is a promise that rests on the disk of the database. Each value of
 * `synchronous_commit` but `off` waits for that disk; they differ in what they ask of standbys.
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
    `${names} off: a crash of the server may lose jobs that were acknowledged`,
    `switch on ${names}, in postgresql.conf or where ALTER DATABASE or ROLE switched it off`,
  );
}
