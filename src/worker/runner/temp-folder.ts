import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The clock of a file system ticks slower than jobs are done; two changes may bear one time. */
const TICK_MS = 20;

/**
 * Keeps the temporary folder of a warm runner empty between its jobs. A look at the time of its last
 * change tells whether anything was put there, and costs two microseconds when nothing was.
 */
export function folderKeeper(folder: string, nowMs: () => number): () => void {
  let changedMs = changeOf(folder);
  let certain = false;
  return () => {
    const changed = changeOf(folder);
    if (certain && changed === changedMs) return;
    empty(folder);
    changedMs = changeOf(folder);
    certain = nowMs() - changedMs > TICK_MS;
  };
}

function empty(folder: string): void {
  try {
    for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
  } catch {
    // What cannot be removed now goes with the runner.
  }
}

function changeOf(folder: string): number {
  return statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
