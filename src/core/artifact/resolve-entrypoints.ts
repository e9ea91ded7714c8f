import { type Entrypoint, ManifestError, type ModuleExport } from './entrypoint.ts';
import type { Manifest } from './manifest.ts';

const EXTENSIONS = ['.js', '.mjs', '.cjs', '.ts', '.mts'];
const CODE = /\.(js|mjs|cjs|ts|mts)$/;

/**
 * The file of a module: the path as it is, or with an extension, or the index of a folder. Null:
 * there is none.
 */
export function resolveModule(module: string, files: ReadonlySet<string>): string | null {
  if (CODE.test(module) && files.has(module)) return module;
  const candidates = ['', '/index'].flatMap((end) =>
    EXTENSIONS.map((extension) => `${module}${end}${extension}`),
  );
  return candidates.find((path) => files.has(path)) ?? null;
}

/** The manifest with the file of each module; refuses what is not in the bundle. */
export function resolveEntrypoints(manifest: Manifest, files: ReadonlySet<string>): Manifest {
  const definitions = manifest.definitions.map((definition, index) => {
    const path = `definitions[${index}].entrypoint`;
    return { ...definition, entrypoint: resolved(definition.entrypoint, files, path) };
  });
  return { ...manifest, definitions };
}

function resolved(entrypoint: Entrypoint, files: ReadonlySet<string>, path: string): Entrypoint {
  if (entrypoint.runtime === 'node') return { ...entrypoint, ...found(entrypoint, files, path) };
  const { argv, cwd, definition } = entrypoint;
  const [program = ''] = argv;
  const file = [...(cwd === null ? [] : [cwd]), program.replace(/^\.\//, '')].join('/');
  if (program.startsWith('./') && !files.has(file)) {
    throw new ManifestError(path, `the bundle has no file ${file}`);
  }
  return { ...entrypoint, definition: definition && found(definition, files, path) };
}

function found(at: ModuleExport, files: ReadonlySet<string>, path: string): ModuleExport {
  const module = resolveModule(at.module, files);
  if (module !== null) return { module, export: at.export };
  throw new ManifestError(path, `the bundle has no module ${at.module}`);
}
