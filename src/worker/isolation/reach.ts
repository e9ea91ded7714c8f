import { realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

const OTHERS_PASS = 0o001;
const OTHERS_READ = 0o004;

/**
 * The first folder on the path, or the path itself, that other users cannot enter or read; null
 * when they can. A path that does not exist counts as open.
 */
export function closedTo(path: string): string | null {
  const real = realOf(path);
  if (real === null) return null;
  const folders = [...parentsOf(real)];
  const closed = folders.find((folder) => (modeOf(folder) & OTHERS_PASS) === 0);
  if (closed !== undefined) return closed;
  return isOpen(real) ? null : real;
}

/** Whether other users may read a file, or list and enter a folder. */
export function isOpen(path: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) return false;
  const needed = stat.isDirectory() ? OTHERS_READ | OTHERS_PASS : OTHERS_READ;
  return (stat.mode & needed) === needed;
}

export function realOf(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}

/** From the root down to its folder. */
function parentsOf(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [] : [...parentsOf(parent), parent];
}

function modeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
}
