import { createRequire } from 'node:module';

/**
 * Builds the code before the first test. A process that builds says so on stderr, where tests would
 * read it.
 */
export default function setup(): void {
  const load = createRequire(import.meta.url);
  const { builtFolder } = load('../../../bin/built.cjs') as { builtFolder: () => string | null };
  builtFolder();
}
