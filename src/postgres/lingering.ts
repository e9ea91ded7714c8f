import type { Log } from '../runtime/log.ts';
import { isPostmasterOf } from './postmaster-file.ts';
import { allCommandLines } from './process-table.ts';
import { clusterName } from './settings.ts';

/**
 * Processes of a killed postmaster notice its death when they wait for something, but one that is
 * busy computes on, and until it is done no new server may use the folder. Nobody hears its answer
 * any more, so it is asked to end (SIGTERM, the orderly way). They are known by the cluster's name
 * in their titles. Should a postmaster live on this folder after all, nothing is touched.
 */
export async function endLingering(folder: string, log: Log): Promise<void> {
  const title = `postgres: ${clusterName(folder)}: `;
  const commands = [...(await allCommandLines())];
  if (commands.some(([, command]) => isPostmasterOf(folder, command))) return;
  for (const [pid, command] of commands) {
    if (!command.startsWith(title)) continue;
    log.info({ pid, command: command.trim() }, 'ending a process that a killed PostgreSQL left');
    try {
      process.kill(pid, 'SIGTERM');
    } catch {
      // It ended by itself in the meantime.
    }
  }
}
