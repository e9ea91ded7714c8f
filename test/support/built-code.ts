import { createRequire } from 'node:module';

/** Builds the code before tests start programs, so that no program of a test writes that it builds. */
export function setup(): void {
  const built = createRequire(import.meta.url)('../../bin/built.cjs') as {
    builtFolder(): string | null;
  };
  built.builtFolder();
}
