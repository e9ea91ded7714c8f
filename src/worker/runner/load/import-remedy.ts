import { existsSync, readFileSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const NOT_A_MODULE = /^(Cannot use import statement outside a module|Unexpected token 'export')/;
/** The code of a file that an import names without its ending, or with that of built code. */
const ENDINGS: [RegExp, string[]][] = [
  [/\.js$/, ['.ts', '.mts']],
  [/\.mjs$/, ['.mts']],
  [/(?<!\.[cm]?[jt]s)$/, ['.ts', '.mts', '.js', '.mjs', '/index.ts', '/index.js']],
];

/** What to do about a file that Node cannot import as it is written; null for other errors. */
export function importRemedy(error: Error): string | null {
  return commonJs(error) ?? missingFile(error) ?? untranslated(error);
}

/** `npm init` writes "type": "commonjs", with which Node reads .ts and .js files as CommonJS. */
function commonJs(error: Error): string | null {
  const file = error.name === 'SyntaxError' ? (notAModule(error) ?? withoutExports(error)) : null;
  if (file === null) return null;
  const shown = shownPath(file);
  const renamed = shown.replace(/\.([jt]s)$/, '.m$1');
  const folder = dirname(shown) === '.' ? '' : `${dirname(shown)}/`;
  return (
    `job files, and the modules that they import, are ES modules, but Node reads ${shown} as CommonJS: ` +
    `rename it to ${renamed}, or put {"type":"module"} into ${folder}package.json`
  );
}

function notAModule({ message, stack }: Error): string | null {
  if (!NOT_A_MODULE.test(message)) return null;
  return placeOf(stack)?.replace(/:\d+$/, '') ?? null;
}

/** An import of a name fails before Node compiles the file that should export it. */
function withoutExports({ message, stack }: Error): string | null {
  const name = /^The requested module '(\..+\.[jt]s)' does not provide an export/.exec(
    message,
  )?.[1];
  const importer = placeOf(stack);
  if (name === undefined || importer === null) return null;
  const file = resolve(dirname(importer), name);
  if (!existsSync(file) || !/^(import|export)\b/m.test(readFileSync(file, 'utf8'))) return null;
  const settings = nodeModule.findPackageJSON(pathToFileURL(file));
  if (settings === undefined) return null;
  const { type } = JSON.parse(readFileSync(settings, 'utf8')) as { type?: string };
  return type === 'commonjs' ? file : null;
}

/** The path and line that the stack of a syntax error begins with. */
function placeOf(stack = ''): string | null {
  return /^(?:file:\/\/)?(\/.*:\d+)\n/.exec(stack)?.[1] ?? null;
}

function missingFile(error: Error): string | null {
  if (!('code' in error) || error.code !== 'ERR_MODULE_NOT_FOUND') return null;
  const importer = / imported from (.+)$/.exec(error.message)?.[1];
  if (!('url' in error) || importer === undefined) return null;
  const url = String(error.url);
  if (!url.startsWith('file:')) return null;
  const missing = fileURLToPath(url);
  for (const [ending, others] of ENDINGS) {
    if (!ending.test(missing)) continue;
    const found = others.map((other) => missing.replace(ending, other)).find(existsSync);
    if (found === undefined) return null;
    const path = relative(dirname(importer), found);
    const name = path.startsWith('.') ? path : `./${path}`;
    return `${shownPath(importer)} imports ${shownPath(missing)}, which does not exist: import it as '${name}'`;
  }
  return null;
}

/** Node removes types. What has to be translated, such as an enum, it refuses. */
function untranslated(error: Error): string | null {
  if (!('code' in error) || error.code !== 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX') return null;
  const what = /^(?:TypeScript )?(.+) is not supported in strip-only mode/.exec(error.message)?.[1];
  if (what === undefined) return null;
  const at = placeOf(error.stack);
  const where = at === null ? '' : ` (${shownPath(at)})`;
  const instead = INSTEAD.find(([name]) => what.includes(name))?.[1] ?? 'write it in JavaScript';
  return (
    `Node only removes types, so a job file cannot have a TypeScript ${what}${where}: ${instead}; ` +
    `"erasableSyntaxOnly": true in tsconfig.json finds all such places`
  );
}

const INSTEAD: [name: string, instead: string][] = [
  ['enum', `write const Color = { Red: 'red' } as const`],
  ['parameter property', 'declare the field and assign it in the constructor'],
  ['namespace', 'write a module of its own, or an object'],
  ['import', 'write import … from'],
];

function shownPath(path: string): string {
  const shown = relative(process.cwd(), path);
  return shown === '' || shown.startsWith('../../') ? path : shown;
}
