import { fstatSync, openSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** The clock of a file system ticks slower than jobs are done; two changes may bear one time. */
const TICK_MS = 20;

/**
 * Keeps the temporary folder of a warm runner empty between its jobs. A look at the time of its last
 * change tells whether anything was put there, and costs a microsecond when nothing was.
 */
export function folderKeeper(folder: string, nowMs: () => number): () => void {
  const open = openSync(folder, 'r');
  let changedMs = changeOf(open);
  let certain = false;
  return () => {
    if (certain && changeOf(open) === changedMs) return;
    empty(folder);
    changedMs = changeOf(open);
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

/** Not a number when the job closed it, which is equal to nothing: then the folder is always read. */
function changeOf(open: number): number {
  try {
    return fstatSync(open).mtimeMs;
  } catch {
    return Number.NaN;
  }
}
