import { execFile } from 'node:child_process';
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parseAst } from 'vitest/node';
import { isNode, type Node, type SourceFile } from './source-tree.ts';

/**
 * Compares the row type of each `statement<Row>(…)` with the columns that PostgreSQL describes. The
 * compiler does it: a copy of the sources gets one line per statement, and each difference between the
 * two is an error of that line. So every kind of type is understood, whatever it is made of.
 */

/** What the driver makes of a column. A JSON value may be of any type. */
export type Kind = 'string' | 'number' | 'boolean' | 'Date' | 'bytes' | 'json' | `${string}[]`;

export interface Column {
  name: string;
  kind: Kind;
  /** Known for a column that comes straight from a table; null for an expression. */
  nullable: boolean | null;
}

/** A call of `statement`: its name, or the pattern of a computed one, and the text of its row type. */
export interface CallSite {
  path: string;
  name: RegExp;
  computed: boolean;
  rowType: string;
}

/** Every call of `statement` in a file. The type is given to the call, or to what the call is assigned to. */
export function callSites(file: SourceFile): CallSite[] {
  const sites: CallSite[] = [];
  const text = (node: Node) => file.source.slice(node.start, Number(node['end']));
  const visit = (value: unknown, annotation: string | null): void => {
    if (typeof value !== 'object' || value === null) return;
    let inner = annotation;
    if (isNode(value)) {
      inner = annotationOf(value, text) ?? annotation;
      if (value.type === 'CallExpression' && nameOf(value['callee']) === 'statement') {
        const rowType = rowTypeOf(value, inner, text);
        if (!rowType) throw new Error(`${file.path}: a statement without a row type`);
        sites.push({ path: file.path, ...patternOf(value['arguments'] as Node[]), rowType });
      }
    }
    for (const child of Object.values(value)) visit(child, inner);
  };
  visit(parseAst(file.source, { lang: 'ts' }, file.path), null);
  return sites;
}

function rowTypeOf(call: Node, annotation: string | null, text: (node: Node) => string) {
  const given = (call['typeArguments'] as { params: Node[] } | null)?.params[0];
  if (given) return text(given);
  return annotation && `NonNullable<(${annotation})['row']>`;
}

/** The declared type of a constant, or the declared result of a function. */
function annotationOf(node: Node, text: (node: Node) => string): string | null {
  const holder = node.type === 'VariableDeclarator' ? (node['id'] as Node) : node;
  const field = holder.type === 'Identifier' ? 'typeAnnotation' : 'returnType';
  const declared = node.type === 'Identifier' ? null : holder[field];
  if (!isNode(declared)) return null;
  return text(declared['typeAnnotation'] as Node);
}

function nameOf(node: unknown): unknown {
  return isNode(node) && node.type === 'Identifier' ? node['name'] : null;
}

function patternOf([name]: readonly Node[]): { name: RegExp; computed: boolean } {
  if (name?.type === 'Literal')
    return { name: new RegExp(`^${String(name['value'])}$`), computed: false };
  if (name?.type !== 'TemplateLiteral') return { name: /^/, computed: true };
  const parts = (name['quasis'] as { value: { raw: string } }[]).map(({ value }) => value.raw);
  return { name: new RegExp(`^${parts.join('\\w+')}$`), computed: true };
}

/** The place where a statement is made: the exact name wins over a pattern, a longer one over a shorter. */
export function siteOf(statement: string, sites: readonly CallSite[]): CallSite {
  const [best] = sites
    .filter(({ name }) => name.test(statement))
    .sort(
      (one, other) =>
        Number(one.computed) - Number(other.computed) ||
        other.name.source.length - one.name.source.length,
    );
  if (!best) throw new Error(`no source file makes the statement ${statement}`);
  return best;
}

/** One difference is one member of a union, so that an error lists all of them. */
const TYPES = `
declare namespace RowTypes {
  type Kind<T> = 0 extends 1 & T ? 'json'
    : [T] extends [never] ? 'null'
    : [T] extends [string] ? 'string'
    : [T] extends [number] ? 'number'
    : [T] extends [boolean] ? 'boolean'
    : [T] extends [Date] ? 'Date'
    : [T] extends [Uint8Array] ? 'bytes'
    : [T] extends [readonly (infer Item)[]] ? \`\${Kind<Exclude<Item, null>>}[]\`
    : 'json';
  type Agree<Ts, Sql> = Ts extends 'null' ? true
    : Sql extends 'json' ? Ts extends 'Date' | 'bytes' ? false : true
    : Ts extends Sql ? true : false;
  type OfColumn<K extends string, T, Sql> =
    | (Sql extends { kind: infer S extends string }
        ? Agree<Kind<Exclude<T, null | undefined>>, S> extends true ? never
          : \`\${K} is \${S} in the SQL, \${Kind<Exclude<T, null | undefined>>} in the type\`
        : never)
    | (Sql extends { nullable: true } ? null extends T ? never : \`\${K} can be null in the SQL\` : never);
  type Differences<Row, Sql> =
    | { [K in keyof Sql & string]: K extends keyof Row ? OfColumn<K, Row[K], Sql[K]>
        : \`\${K} is in the SQL, not in the type\` }[keyof Sql & string]
    | { [K in Exclude<keyof Row, keyof Sql> & string]: \`\${K} is in the type, not in the SQL\` }[
        Exclude<keyof Row, keyof Sql> & string];
  function check<Found extends never>(): void;
}`;

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

interface Described {
  name: string;
  columns: readonly Column[];
}

/** The differences, as `statement: what differs`. The paths of the sources are those of `src`. */
export async function rowTypeDifferences(
  statements: readonly Described[],
  sources: readonly SourceFile[],
  folderName: string,
): Promise<string[]> {
  // Inside the checkout, so that packages resolve as usual.
  const folder = join(ROOT, 'tmp', folderName);
  await rm(folder, { recursive: true, force: true });
  try {
    await cp(join(ROOT, 'src'), join(folder, 'src'), { recursive: true });
    const sites = sources.flatMap(callSites);
    const owners = statements.map((described) => ({
      ...described,
      site: siteOf(described.name, sites),
    }));
    for (const { path, source } of sources) {
      const mine = owners.filter(({ site }) => site.path === path);
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(
        join(folder, path),
        [source.trimEnd(), ...mine.map(checkLine), ''].join('\n'),
      );
    }
    await writeFile(join(folder, 'row-types.d.ts'), TYPES);
    const files = [...sources.map(({ path }) => path), 'row-types.d.ts'];
    const config = {
      extends: '../../tsconfig.json',
      compilerOptions: { noErrorTruncation: true },
      include: [],
      files,
    };
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
    return (await compile(folder)).flatMap(differencesOf);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function checkLine({ name, columns, site }: Described & { site: CallSite }): string {
  const described = columns.map(
    ({ name, kind, nullable }) => `'${name}': { kind: '${kind}'; nullable: ${nullable} }`,
  );
  const found = `RowTypes.Differences<${site.rowType}, { ${described.join('; ')} }>`;
  return `RowTypes.check<\`${name}: \${${found}}\`>();`;
}

async function compile(folder: string): Promise<string[]> {
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  const said = await promisify(execFile)(process.execPath, [tsc, '-p', folder, '--pretty', 'false'])
    .then(({ stdout }) => stdout)
    .catch((error: { stdout: string; message: string }) => error.stdout || error.message);
  return said.split('\n').filter((line) => line !== '' && !line.startsWith(' '));
}

/** An error of a line that we have added lists the differences as texts; any other is shown as it is. */
function differencesOf(line: string): string[] {
  const found = [...line.matchAll(/"(\w+: \w+ (?:is|can) [^"]+)"/g)].map(([, text]) => text ?? '');
  return found.length > 0 ? found : [line];
}
