import { COMPUTED, type Import, isNode, lineOf, type Node } from './source-tree.ts';
import type { ParsedFile } from './source-tree.ts';

/**
 * The checks behind `test/architecture.test.ts`: pure functions from parsed files to sentences, so
 * that each can be shown a bad file and must complain about it.
 */

/** Who may import what. A folder ends in `/`, and the longest `at` that fits a file is its row. */
export interface ImportRow {
  at: string;
  /** Folders and files of ours. A folder may always import itself. */
  may: readonly string[];
  /** Of these only what is erased before it runs. */
  types?: readonly string[];
  /** Only by `import()`, so that they are loaded on demand. */
  lazily?: readonly string[];
  packages?: readonly string[];
  node?: boolean;
  /** Files of it that may import a path which is only known when they run. */
  computed?: readonly string[];
}

const covers = (place: string, path: string) =>
  place.endsWith('/') ? path.startsWith(place) : path === place;

export function rowOf(path: string, table: readonly ImportRow[]): ImportRow | undefined {
  const rows = table.filter(({ at }) => covers(at, path));
  return rows.sort((a, b) => b.at.length - a.at.length)[0];
}

export function wrongImports(files: readonly ParsedFile[], table: readonly ImportRow[]): string[] {
  return files.flatMap(({ path, imports }) => {
    const row = rowOf(path, table);
    if (!row) return [`${path} has no row in the table of imports`];
    const allows = ({ target, typeOnly, lazy }: Import) => {
      if (target === COMPUTED) return row.computed?.includes(path) ?? false;
      if (target.startsWith('node:')) return row.node === true;
      if (!/^(src|web)\//.test(target)) return row.packages?.includes(target) ?? false;
      // A folder inside another one has its own row: it is not part of its parent.
      const more = [...(typeOnly ? (row.types ?? []) : []), ...(lazy ? (row.lazily ?? []) : [])];
      const places = [row.at, ...row.may, ...more];
      const home = rowOf(target, table)?.at ?? target;
      return places.some((place) => place === target || (place === home && covers(place, target)));
    };
    return imports
      .filter((one) => !allows(one))
      .map(({ target, typeOnly, line }) => {
        const how = typeOnly ? 'imports types of' : 'imports';
        return `${path}:${line} ${how} ${target}, which ${row.at} may not`;
      });
  });
}

/** The files that are loaded together with this one. Lazy imports and types do not count. */
export function loadedBy(path: string, files: readonly ParsedFile[]): Set<string> {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const loaded = new Set<string>();
  const visit = (at: string): void => {
    if (loaded.has(at)) return;
    loaded.add(at);
    for (const { target, typeOnly, lazy } of byPath.get(at)?.imports ?? []) {
      if (!typeOnly && !lazy) visit(target);
    }
  };
  visit(path);
  return loaded;
}

/** Knots of files that load each other. What is erased before it runs ties no knot. */
export function importCycles(files: readonly ParsedFile[]): string[] {
  const valueImports = new Map(
    files.map(({ path, imports }) => [
      path,
      imports.filter(({ typeOnly }) => !typeOnly).map(({ target }) => target),
    ]),
  );
  const found: string[] = [];
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start >= 0) {
      found.push(`${[...trail.slice(start), path].join(' -> ')} is an import cycle`);
      return;
    }
    if (done.has(path)) return;
    for (const target of valueImports.get(path) ?? []) visit(target, [...trail, path]);
    done.add(path);
  };
  for (const path of valueImports.keys()) visit(path, []);
  return found;
}

export function longFiles(files: readonly ParsedFile[], linesMax: number): string[] {
  return files.flatMap(({ path, source }) => {
    const lines = source.replace(/\n$/, '').split('\n').length;
    return lines > linesMax ? [`${path} has ${lines} lines, more than ${linesMax}`] : [];
  });
}

const SQL = [
  /\bselect\b[^;]*\bfrom\b/i,
  /\binsert\s+into\b/i,
  /\bupdate\b[^;]*\bset\b/i,
  /\bdelete\s+from\b/i,
  /\bcreate\s+(?:\w+\s+)?table\b/i,
];

/** Text that looks like SQL, in quotes or in a template. Comments may speak of it. */
export function strayStatements(
  files: readonly ParsedFile[],
  allowed: readonly string[],
): string[] {
  return elsewhere(files, allowed).flatMap((file) =>
    file.nodes
      .filter((node) => SQL.some((pattern) => pattern.test(textOf(node))))
      .map((node) => `${file.path}:${lineOf(file, node)} holds SQL`),
  );
}

function textOf(node: Node): string {
  if (node.type === 'Literal') return typeof node['value'] === 'string' ? node['value'] : '';
  if (node.type !== 'TemplateLiteral' || !Array.isArray(node['quasis'])) return '';
  const pieces = node['quasis'] as { value: { raw: string } }[];
  return pieces.map(({ value }) => value.raw).join(' x ');
}

const AMBIENT = ['process.env', 'Date.now', 'new Date()'];
const IMPURE = [
  ...AMBIENT,
  'Math.random',
  'performance.now',
  'crypto.randomUUID',
  'crypto.getRandomValues',
];

/** Environment and clock belong to the outermost parts: to all others they are arguments. */
export function ambientReads(files: readonly ParsedFile[], allowed: readonly string[]): string[] {
  return reads(elsewhere(files, allowed), AMBIENT);
}

/** Folders that must answer the same to the same question also do without chance. */
export function impureReads(files: readonly ParsedFile[], pure: readonly string[]): string[] {
  const inside = files.filter(({ path }) => pure.some((place) => covers(place, path)));
  return reads(inside, IMPURE);
}

function reads(files: readonly ParsedFile[], names: readonly string[]): string[] {
  return files.flatMap((file) =>
    file.nodes.flatMap((node) => {
      const found = readingsOf(node).filter((name) => names.includes(name));
      return found.map((name) => `${file.path}:${lineOf(file, node)} reads ${name}`);
    }),
  );
}

/** `a.b`, `a['b']` and `const { b } = a` are all "a.b"; a Date made from nothing is the clock. */
function readingsOf(node: Node): string[] {
  const { object, property, id, init, callee, source } = node as Record<string, unknown>;
  switch (node.type) {
    case 'MemberExpression':
      return [`${nodeName(object)}.${nodeName(property)}`];
    case 'NewExpression':
      return (node['arguments'] as unknown[]).length === 0 ? [`new ${nodeName(callee)}()`] : [];
    case 'VariableDeclarator':
      if (!isNode(id) || !Array.isArray(id['properties'])) return [];
      return (id['properties'] as Node[]).map(({ key }) => `${nodeName(init)}.${nodeName(key)}`);
    case 'ImportDeclaration':
      // `process` is global, so the only reason to import it is to read it unseen.
      return nodeName(source) === 'node:process' ? ['process.env'] : [];
    default:
      return [];
  }
}

function nodeName(node: unknown): string {
  if (!isNode(node)) return '';
  // Of `globalThis.process` the last part counts.
  if (node.type === 'MemberExpression') return nodeName(node['property']);
  return String(node['name'] ?? node['value'] ?? '');
}

const NOT_ERASABLE: Record<string, string> = {
  TSParameterProperty: 'a parameter property',
  TSEnumDeclaration: 'an enum',
};

/** Node runs our files by erasing types; what needs code of its own cannot be erased. */
export function nonErasable(files: readonly ParsedFile[]): string[] {
  return files.flatMap((file) =>
    file.nodes.flatMap((node) => {
      const what = NOT_ERASABLE[node.type];
      return what ? [`${file.path}:${lineOf(file, node)} uses ${what}`] : [];
    }),
  );
}

function elsewhere(files: readonly ParsedFile[], allowed: readonly string[]): ParsedFile[] {
  return files.filter(({ path }) => !allowed.some((place) => covers(place, path)));
}
