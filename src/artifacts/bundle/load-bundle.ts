/**
 * A program: loads the modules of a bundle and reports the definitions they export. It is a process
 * of its own, because the code of users may print, crash, or never let a process end.
 */
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isJobDefinition } from '../../core/definition/define.ts';
import type { DefinitionInfo } from '../../core/definition/definition.ts';

export interface LoadRequest {
  folder: string;
  modules: string[];
  /** The modules that are not in the bundle, each with its URL. */
  provided: Record<string, string>;
}

export interface FoundDefinition {
  module: string;
  export: string;
  info: DefinitionInfo;
}

export interface LoadReport {
  definitions: FoundDefinition[];
  /** Modules without a definition. */
  empty: string[];
  problems: string[];
}

process.once('message', (request: LoadRequest) => {
  void load(request).then((report) => process.send?.(report, () => process.exit(0)));
});

async function load({ folder, modules, provided }: LoadRequest): Promise<LoadReport> {
  registerHooks({
    resolve(specifier, context, next) {
      const url = provided[specifier];
      return url === undefined ? next(specifier, context) : { url, shortCircuit: true };
    },
  });
  const report: LoadReport = { definitions: [], empty: [], problems: [] };
  const firstOf = new Map<unknown, FoundDefinition>();
  const byName = new Map<string, FoundDefinition>();
  for (const module of modules) {
    try {
      const url = pathToFileURL(join(folder, module)).href;
      const exported = Object.entries((await import(url)) as Record<string, unknown>);
      const found = exported.filter(([, value]) => isJobDefinition(value));
      if (found.length === 0) report.empty.push(module);
      for (const [name, value] of found) {
        // A second export of the same definition adds nothing.
        if (!isJobDefinition(value) || firstOf.has(value)) continue;
        const definition = { module, export: name, info: value.info };
        firstOf.set(value, definition);
        const key = `${value.key}@${value.version}`;
        const other = byName.get(key);
        if (other) report.problems.push(`${module}: ${key} is already defined in ${other.module}`);
        else report.definitions.push(definition);
        byName.set(key, definition);
      }
    } catch (error) {
      const { name, message } = error instanceof Error ? error : new Error(String(error));
      report.problems.push(`${module}: ${name}: ${message.split('\n')[0]}`);
    }
  }
  return report;
}
