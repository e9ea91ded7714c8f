import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import type { Plugin } from 'rolldown';

/** Packages that find or build native code; what depends on one of them has such code. */
const LOADERS = [
  'bindings',
  'node-gyp-build',
  'node-gyp-build-optional-packages',
  'prebuild-install',
  '@mapbox/node-pre-gyp',
  'node-addon-api',
];

interface PackageFile {
  name?: string;
  gypfile?: boolean;
  dependencies?: Record<string, string>;
}

/** Native code fits one kind of machine, so a bundle must not contain it. */
export function refuseNative(refuse: (packageName: string) => Error): Plugin {
  const judged = new Map<string, string | null>();
  return {
    name: 'longshore-native-packages',
    load: {
      filter: { id: /node_modules|\.node$/ },
      handler(id) {
        const folder = packageFolder(id);
        if (!judged.has(folder)) judged.set(folder, nativeName(folder));
        const name = judged.get(folder) ?? (id.endsWith('.node') ? id : null);
        if (name !== null) throw refuse(name);
        return null;
      },
    },
  };
}

function packageFolder(file: string): string {
  const parent = dirname(file);
  if (parent === file || existsSync(join(file, 'package.json'))) return file;
  return parent.endsWith(`${sep}node_modules`) ? file : packageFolder(parent);
}

/** The name of the package if it has native code; else null. */
function nativeName(folder: string): string | null {
  try {
    const text = readFileSync(join(folder, 'package.json'), 'utf8');
    const { name = folder, gypfile = false, dependencies = {} } = JSON.parse(text) as PackageFile;
    const isNative =
      gypfile ||
      existsSync(join(folder, 'binding.gyp')) ||
      LOADERS.some((loader) => Object.hasOwn(dependencies, loader));
    return isNative ? name : null;
  } catch {
    return null;
  }
}
