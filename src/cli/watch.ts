import { type FSWatcher, watch } from 'node:fs';
import { basename } from 'node:path';

/**
 * Editors write in several steps and a checkout changes many files: changes within this time count
 * as one.
 */
const QUIET_MS = 150;
const IGNORED = /(^|[\\/])(node_modules|\.[^\\/]*)([\\/]|$)|~$|\.swp$/;

export interface Watching {
  close(): void;
}

/** Calls `changed` when a file below one of the paths changes. */
export function watchPaths(paths: readonly string[], changed: (file: string) => void): Watching {
  let timer: NodeJS.Timeout | undefined;
  const watchers = paths.map((path): FSWatcher => {
    return watch(path, { recursive: true }, (_event, name) => {
      const file = name ?? basename(path);
      if (IGNORED.test(file)) return;
      clearTimeout(timer);
      timer = setTimeout(() => changed(file), QUIET_MS);
    });
  });
  // A removed folder ends its watch with an error.
  for (const watcher of watchers) watcher.on('error', () => watcher.close());
  return {
    close: () => {
      clearTimeout(timer);
      for (const watcher of watchers) watcher.close();
    },
  };
}
