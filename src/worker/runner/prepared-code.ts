import { statSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { CodeFiles, LoadPlan } from '../ipc.ts';
import type { LoadedModules } from './load/code-hash.ts';

/** The most characters of all files together: more would cost more memory than it saves. */
const COLLECTED_MAX = 4 * 1_048_576;

/**
 * Loads code as the worker has planned it. The TypeScript compiler of Node costs a process 50 ms and
 * 17 MB, so only the first process uses it; it collects the compiled files, and the worker gives
 * them to all others. A file that has changed since is loaded as usual. The first process also notes
 * what imports what, for the hash of the code (`load/code-hash.ts`).
 */
export function prepareCode({ files, modules }: LoadPlan): {
  collected: CodeFiles;
  loaded: LoadedModules;
} {
  const collected: CodeFiles = {};
  const loaded: LoadedModules = { imports: new Map(), sources: new Map() };
  let length = 0;
  registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context);
      const url = modules[found.url];
      if (url !== undefined) return { url, format: 'module', shortCircuit: true };
      if (files === null) noteImport(loaded, context.parentURL, found.url);
      return found;
    },
    load(url, context, next) {
      const known = files?.[url];
      if (known?.state !== undefined && known.state === stateOf(url)) {
        return { format: 'module', source: known.source, shortCircuit: true };
      }
      const read = next(url, context);
      if (files !== null || read.format !== 'module-typescript') return read;
      const written = String(read.source);
      loaded.sources.set(url, written);
      const source = stripped(written);
      if (source === null) return read;
      length += source.length;
      if (length < COLLECTED_MAX) collected[url] = { state: stateOf(url), source };
      return { ...read, format: 'module', source };
    },
  });
  return { collected, loaded };
}

function noteImport({ imports }: LoadedModules, parent: string | undefined, url: string): void {
  if (parent === undefined) return;
  const known = imports.get(parent);
  if (known) known.add(url);
  else imports.set(parent, new Set([url]));
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
