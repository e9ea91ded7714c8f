import { type FSWatcher, readdirSync, statSync, watch } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';

/**
 * Editors write in several steps and a checkout changes many files: changes within this time count
 * as one.
 */
const QUIET_MS = 150;
const IGNORED = /^(node_modules|\..*)$|~$|\.swp$/;

export interface Watching {
  close(): void;
}

/** Calls `changed` when a file below one of the paths changes. */
export function watchPaths(paths: readonly string[], changed: (file: string) => void): Watching {
  let timer: NodeJS.Timeout | undefined;
  const report = (file: string) => {
    clearTimeout(timer);
    timer = setTimeout(() => changed(file), QUIET_MS);
  };
  const watches = paths.map((path) => new PathWatch(resolve(path), report));
  return {
    close: () => {
      clearTimeout(timer);
      for (const one of watches) one.close();
    },
  };
}

/**
 * One watch for each folder, and one for the folder above the path. A recursive watch of Node follows the
 * files themselves on Linux: it misses every change after an editor has replaced a file.
 */
class PathWatch {
  readonly #path: string;
  readonly #report: (file: string) => void;
  readonly #folders = new Map<string, FSWatcher>();
  readonly #above: FSWatcher;

  constructor(path: string, report: (file: string) => void) {
    this.#path = path;
    this.#report = report;
    this.#above = watch(dirname(path), (_event, name) => {
      if (name === basename(path)) this.#seen(path);
    });
    this.#above.on('error', () => this.#above.close());
    if (isFolder(path)) this.#watch(path);
  }

  close(): void {
    this.#above.close();
    for (const watcher of this.#folders.values()) watcher.close();
  }

  #watch(folder: string): void {
    let watcher: FSWatcher;
    try {
      watcher = watch(folder, (_event, name) => {
        if (name !== null && !IGNORED.test(name)) this.#seen(join(folder, name));
      });
    } catch {
      return; // It was deleted in the meantime.
    }
    watcher.on('error', () => this.#forget(folder));
    this.#folders.set(folder, watcher);
    for (const name of namesIn(folder)) {
      const path = join(folder, name);
      if (!IGNORED.test(name) && isFolder(path)) this.#watch(path);
    }
  }

  #seen(path: string): void {
    // A folder may have been replaced by another one of the same name.
    this.#forget(path);
    if (isFolder(path)) this.#watch(path);
    this.#report(relative(this.#path, path) || basename(path));
  }

  #forget(path: string): void {
    for (const [folder, watcher] of this.#folders) {
      if (folder !== path && !folder.startsWith(join(path, '/'))) continue;
      watcher.close();
      this.#folders.delete(folder);
    }
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
