import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const SELF = fileURLToPath(import.meta.url);
const IS_SOURCE = SELF.endsWith('.ts');

/** The folder of `package.json`: of a checkout, or of a package. */
export const PACKAGE_ROOT = folderWith('package.json');

/**
 * The file of another program, such as `worker/runner/main`. Built code starts programs of the same
 * build. Sources start built programs too, where the checkout can build (`bin/built.cjs`).
 */
export function programFile(name: string): string {
  if (!IS_SOURCE) return builtFile(folderWith('worker/runner/main.cjs'), name);
  const load = createRequire(import.meta.url);
  const { builtFolder } = load(join(PACKAGE_ROOT, 'bin/built.cjs')) as BuiltCode;
  const built = builtFolder();
  return built === null ? join(PACKAGE_ROOT, `src/${name}.ts`) : builtFile(built, name);
}

function builtFile(folder: string, name: string): string {
  const file = join(folder, name);
  return existsSync(`${file}.cjs`) ? `${file}.cjs` : `${file}.js`;
}

/** The modules of a checkout that programs import, each with its built one: URL to URL. */
export function builtModules(): Record<string, string> {
  const url = (path: string) => pathToFileURL(path).href;
  return Object.fromEntries(
    EXPORTS.flatMap(([name, stub]) => {
      const built = url(programFile(name));
      return [`src/${name}.ts`, `bin/exports/${stub}.js`].map((path) => [
        url(join(PACKAGE_ROOT, path)),
        built,
      ]);
    }),
  );
}

/** What a bundle of jobs imports and the process that runs it provides: each name with its URL. */
export function providedModules(): Record<string, string> {
  const url = (name: string) => pathToFileURL(programFile(name)).href;
  return {
    longshore: url('index'),
    'longshore/client': url('client/index'),
    'longshore/batteries': url('batteries/index'),
  };
}

const EXPORTS = [
  ['index', 'index'],
  ['client/index', 'client'],
  ['testing/index', 'testing'],
  ['batteries/index', 'batteries'],
] as const;

interface BuiltCode {
  builtFolder(): string | null;
}

/** The nearest folder above this file that contains that file. */
function folderWith(file: string, from = dirname(SELF)): string {
  const parent = dirname(from);
  return parent === from || existsSync(join(from, file)) ? from : folderWith(file, parent);
}
