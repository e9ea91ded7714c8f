import { readdir, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { classify } from '../../core/failure/classify.ts';
import { isJobDefinition, type JobDefinition } from '../../core/definition/define.ts';

export interface Loaded {
  definitions: JobDefinition[];
  /** One message per file that could not be loaded, with its path. The others still run. */
  problems: string[];
}

const CODE = /\.(ts|mts|js|mjs)$/;
const NOT_A_JOB = /(^|\/)([._]|node_modules(\/|$))|\.d\.ts$|\.(test|spec)\.\w+$/;

/** Loads every definition that the files below a path export. */
export async function loadDefinitions(path: string): Promise<Loaded> {
  const root = resolve(path);
  const byName = new Map<string, { definition: JobDefinition; shown: string; file: string }>();
  const problems: string[] = [];
  let files: string[];
  try {
    files = await definitionFiles(root);
  } catch {
    return { definitions: [], problems: [`${path}: no such file or folder`] };
  }
  for (const file of files) {
    const shown = relative(process.cwd(), file) || file;
    try {
      const found = await definitionsIn(file);
      if (found.length === 0) {
        problems.push(`${shown}: exports no job made by defineJob or defineCommand`);
      }
      for (const definition of found) {
        const name = `${definition.key}@${definition.version}`;
        const other = byName.get(name);
        if (other && other.definition !== definition) {
          problems.push(`${shown}: ${name} is already defined in ${other.shown}`);
        } else {
          byName.set(name, { definition, shown, file });
        }
      }
    } catch (error) {
      problems.push(`${shown}: ${firstLines(error)}`);
    }
  }
  const definitions = [...byName.values()].map(({ definition, file }) => placed(definition, file));
  return { definitions, problems };
}

/** A command runs in the folder of its definition's file, which is known only here. */
function placed(definition: JobDefinition, file: string): JobDefinition {
  const { info } = definition;
  if (!info.command) return definition;
  const cwd = resolve(dirname(file), info.command.cwd ?? '.');
  return { ...definition, info: { ...info, command: { ...info.command, cwd } } };
}

async function definitionFiles(root: string): Promise<string[]> {
  if ((await stat(root)).isFile()) return [root];
  const names = await readdir(root, { recursive: true });
  return names
    .filter((name) => CODE.test(name) && !NOT_A_JOB.test(name.replaceAll('\\', '/')))
    .sort()
    .map((name) => join(root, name));
}

async function definitionsIn(file: string): Promise<JobDefinition[]> {
  const module = (await import(pathToFileURL(file).href)) as Record<string, unknown>;
  return Object.values(module).filter(isJobDefinition);
}

/** The error and its position in the file, without the frames of the loader. */
function firstLines(error: unknown): string {
  if (!(error instanceof Error))
    return `it threw a value that is not an Error: ${classify(error, 0).error.message}`;
  const missing = /^Cannot find package '([^']+)'/.exec(error.message)?.[1];
  if (missing !== undefined) {
    return `it imports ${missing}, which is not installed there: run npm install ${missing} beside it`;
  }
  const location = /^(.*:\d+)\n/.exec(error.stack ?? '')?.[1];
  const summary = `${error.name}: ${error.message.split('\n')[0]}`;
  return location?.includes('file:')
    ? `${summary} (${location.replace(/^file:\/\//, '')})`
    : summary;
}
