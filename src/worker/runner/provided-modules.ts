import { registerHooks } from 'node:module';

const provided: Record<string, string> = {};
let isRegistered = false;

/** Modules that are found by name wherever the code is: deployed code does not bring `longshore`. */
export function provideModules(modules: Readonly<Record<string, string>>): void {
  Object.assign(provided, modules);
  if (isRegistered) return;
  isRegistered = true;
  registerHooks({
    resolve(specifier, context, next) {
      const url = provided[specifier];
      return url === undefined
        ? next(specifier, context)
        : { url, format: 'module', shortCircuit: true };
    },
  });
}
