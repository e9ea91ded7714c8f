import { readdirSync, readFileSync } from 'node:fs';
import type { Leftovers } from '../history/history.ts';
import type { Database } from './database.ts';

const CONNECTIONS = `
  select count(*)::int as count from pg_stat_activity
  where application_name like 'longshore%' and application_name <> 'longshore supervisor'`;

/**
 * What the servers left behind. Every process of a run has the folder of the run in its environment,
 * also those whose parents are long gone.
 */
export async function leftoversOf(folder: string, database: Database): Promise<Leftovers> {
  const connections = await database.use(async (client) => {
    const { rows } = await client.query<{ count: number }>(CONNECTIONS);
    return rows[0]?.count ?? 0;
  });
  return { processes: processesOf(folder).map(({ command }) => command), connections };
}

export function processesOf(folder: string): { pid: number; command: string }[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) return [];
    try {
      const environment = readFileSync(`/proc/${name}/environ`, 'utf8');
      if (!environment.includes(`=${folder}\0`)) return [];
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
      return command === '' ? [] : [{ pid: Number(name), command }];
    } catch {
      return [];
    }
  });
}
