import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { parseAst } from 'vitest/node';

/** What the architecture rules know of a source file: its text, its imports and its syntax tree. */
export interface SourceFile {
  path: string;
  source: string;
}

export interface Import {
  /** A path from the root of the repository, `node:name`, or the name of a package. */
  target: string;
  /** Erased before it runs. `import { type X }` is not: its module is still loaded. */
  typeOnly: boolean;
  /** By `import()`: loaded when the line is reached, not together with the file. */
  lazy: boolean;
  line: number;
}

export interface ParsedFile extends SourceFile {
  nodes: Node[];
  imports: Import[];
}

export interface Node {
  type: string;
  start: number;
  [field: string]: unknown;
}

/** Every file of a folder that is part of the product, so without the tests beside it. */
export function readSources(folder: string): SourceFile[] {
  const root = new URL('../../../', import.meta.url);
  return readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' })
    .map((name) => posix.join(folder, name.replaceAll('\\', '/')))
    .filter((path) => /\.tsx?$/.test(path) && !/\.(test|fixture)\.ts$/.test(path))
    .sort()
    .map((path) => ({ path, source: readFileSync(new URL(path, root), 'utf8') }));
}

export function parse({ path, source }: SourceFile): ParsedFile {
  const nodes = [...walk(parseAst(source, { lang: path.endsWith('.tsx') ? 'tsx' : 'ts' }, path))];
  const file = { path, source, nodes, imports: [] };
  return { ...file, imports: nodes.flatMap((node) => importOf(file, node)) };
}

export function lineOf({ source }: SourceFile, { start }: Node): number {
  return source.slice(0, start).split('\n').length;
}

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}

function* walk(value: unknown): Generator<Node> {
  if (typeof value !== 'object' || value === null) return;
  if (isNode(value)) yield value;
  for (const inner of Object.values(value)) yield* walk(inner);
}

/** Stands for a path that is only known when the program runs. */
export const COMPUTED = '(computed)';

/** All ways to name another module: import, export from, import(), and import types. */
function importOf(file: SourceFile, node: Node): Import[] {
  const from = node['source'];
  const kind = node['importKind'] ?? node['exportKind'];
  switch (node.type) {
    case 'ImportDeclaration':
    case 'ExportNamedDeclaration':
    case 'ExportAllDeclaration':
    case 'ImportExpression':
    case 'TSImportType':
      break;
    default:
      return [];
  }
  if (!isNode(from)) return [];
  const named = from['value'];
  const target = typeof named === 'string' ? resolve(file.path, named) : COMPUTED;
  const typeOnly = node.type === 'TSImportType' || kind === 'type';
  const lazy = node.type === 'ImportExpression';
  return [{ target, typeOnly, lazy, line: lineOf(file, node) }];
}

function resolve(importer: string, specifier: string): string {
  if (specifier.startsWith('.')) return posix.join(posix.dirname(importer), specifier);
  if (specifier.startsWith('node:')) return specifier;
  const [scope = '', name = ''] = specifier.split('/');
  return scope.startsWith('@') ? `${scope}/${name}` : scope;
}
