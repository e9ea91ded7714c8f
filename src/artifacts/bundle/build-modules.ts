import { dirname, relative, resolve } from 'node:path';
import { refuseNative } from './native-packages.ts';

/** An optional dependency, which only a deploy needs. */
export const loadRolldown = async () => await import('rolldown');

export class BundleError extends Error {
  override name = 'BundleError';
}

export interface BuildOptions {
  root: string;
  /** The name in the bundle, without extension, to the file. */
  entries: Record<string, string>;
  /** Packages that the workers have. */
  external: readonly string[];
  out: string;
  load?: typeof loadRolldown;
}

/** What the process that runs the jobs provides. */
const PROVIDED = /^longshore(\/|$)/;

/**
 * Writes each entry as an ES module with a source map, packages included. `longshore` stays outside:
 * the process of the job provides it. So the code of a job and the worker never differ in it, and a
 * bundle stays small.
 */
export async function buildModules(options: BuildOptions): Promise<string[]> {
  const { root, entries, external, out, load = loadRolldown } = options;
  const { rolldown } = await load().catch((cause: unknown) => {
    const words = 'a bundle of jobs needs the package "rolldown": run "npm install -D rolldown"';
    throw new BundleError(words, { cause });
  });
  const warnings: string[] = [];
  let refusal: BundleError | undefined;
  const native = (name: string) => {
    refusal = new BundleError(
      `the package ${name} has native code, which a bundle cannot contain: ` +
        'use another package, or install it on the workers and name it as external',
    );
    return refusal;
  };
  try {
    const build = await rolldown({
      cwd: root,
      platform: 'node',
      input: entries,
      external: (id) => PROVIDED.test(id) || external.includes(packageOf(id)),
      plugins: [refuseNative(native)],
      onLog: (level, log) => {
        if (level === 'warn') warnings.push(log.message.split('\n')[0] ?? log.message);
      },
    });
    try {
      await build.write({
        dir: out,
        format: 'esm',
        sourcemap: true,
        entryFileNames: '[name].mjs',
        chunkFileNames: 'chunks/[name]-[hash].mjs',
        sourcemapPathTransform: (source, map) => shownPath(resolve(dirname(map), source), root),
      });
    } finally {
      await build.close();
    }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw refusal ?? new BundleError(`the bundle cannot be built: ${why}`, { cause: error });
  }
  return warnings;
}

/** `@scope/name` of `@scope/name/part`. */
function packageOf(id: string): string {
  return id
    .split('/')
    .slice(0, id.startsWith('@') ? 2 : 1)
    .join('/');
}

/** Without the folders of this machine, so that a bundle is the same everywhere. */
function shownPath(file: string, root: string): string {
  return relative(root, file).replace(/^(\.\.\/)+/, '');
}
