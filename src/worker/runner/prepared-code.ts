import { statSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { CodeFiles, LoadPlan } from '../ipc.ts';

/** The most characters of all files together: more would cost more memory than it saves. */
const COLLECTED_MAX = 4 * 1_048_576;

/**
 * Loads code as the worker has planned it. The TypeScript compiler of Node costs a process 50 ms and
 * 17 MB, so only the first process uses it; it collects the compiled files, and the worker gives
 * them to all others. A file that has changed since is loaded as usual.
 */
export function prepareCode({ files, modules }: LoadPlan): { collected: CodeFiles } {
  const collected: CodeFiles = {};
  let length = 0;
  registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context);
      const url = modules[found.url];
      return url === undefined ? found : { url, format: 'module', shortCircuit: true };
    },
    load(url, context, next) {
      const known = files?.[url];
      if (known?.state !== undefined && known.state === stateOf(url)) {
        return { format: 'module', source: known.source, shortCircuit: true };
      }
      const loaded = next(url, context);
      if (files !== null || loaded.format !== 'module-typescript') return loaded;
      const source = stripped(String(loaded.source));
      if (source === null) return loaded;
      length += source.length;
      if (length < COLLECTED_MAX) collected[url] = { state: stateOf(url), source };
      return { ...loaded, format: 'module', source };
    },
  });
  return { collected };
}

/** Null for code that Node refuses; then Node says why. */
function stripped(source: string): string | null {
  try {
    return stripTypeScriptTypes(source);
  } catch {
    return null;
  }
}

function stateOf(url: string): string {
  const stat = statSync(fileURLToPath(url));
  return `${stat.size} ${stat.mtimeMs}`;
}
