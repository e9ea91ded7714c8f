import type { Log } from '../runtime/log.ts';
import { isPostmasterOf } from './postmaster-file.ts';
import { allCommandLines } from './process-table.ts';
import { clusterName } from './settings.ts';

/**
 * Processes of a killed postmaster exit when they next wait for something, but a busy one runs on,
 * and until it is done no new server may use the folder. Its client is gone, so it is terminated
 * (SIGTERM). These processes are found by the cluster's name in their titles. If a postmaster is
 * alive on this folder, nothing is touched.
 */
export async function endLingering(folder: string, log: Log): Promise<void> {
  const title = `postgres: ${clusterName(folder)}: `;
  const commands = [...(await allCommandLines())];
  if (commands.some(([, command]) => isPostmasterOf(folder, command))) return;
  for (const [pid, command] of commands) {
    if (!command.startsWith(title)) continue;
    log.info(
      { pid, command: command.trim() },
      'terminating a process that a killed PostgreSQL left',
    );
    try {
      process.kill(pid, 'SIGTERM');
    } catch {
      // It exited in the meantime.
    }
  }
}
