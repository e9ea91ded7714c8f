import { existsSync, readdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve, sep } from 'node:path';
import { PACKAGE_ROOT } from '../../runtime/code.ts';
import { closedTo, isOpen, realOf } from './reach.ts';

/**
 * What job processes must be able to read of a private folder: the definitions with their project,
 * Longshore itself, and Node. Of a project below a folder that only root may enter (`/root`), jobs
 * see the code only: hidden files (`.env`, `.longshore`), the settings of the server, and files
 * that only root may read stay hidden.
 */
export interface ViewPlan {
  /** Folders that are replaced by one with only the shown entries. */
  covers: { folder: string; shown: string[] }[];
  /** Folders that exist, but are empty except for the shown entries. */
  folders: string[];
  /** What is hidden again inside shown folders. */
  hidden: string[];
}

const SETTINGS_FILE = 'longshore.config.json';
/** The entries of a home folder that a Node project needs. */
const OF_A_HOME = ['node_modules', 'package.json', 'tsconfig.json'];

/** Null where jobs can read everything they need. Throws where a view would not help. */
export function planView(jobs: string, cwd: string): ViewPlan | null {
  const jobsPath = realOf(jobs) ?? resolve(jobs);
  const needed = [jobsPath, PACKAGE_ROOT, process.execPath].filter(
    (path) => closedTo(path) !== null,
  );
  if (needed.length === 0) return null;
  const essential = [jobsPath, process.execPath].filter((path) => existsSync(path));
  const unreadable = essential.find((path) => !isOpen(path));
  if (unreadable !== undefined) {
    throw new Error(`other users may not read ${unreadable}: run chmod -R o+rX on it`);
  }
  const shown = new Set<string>();
  const project = projectOf(jobsPath);
  for (const path of [...project.shown, ...oursOf(PACKAGE_ROOT), ...nodeOf(process.execPath)]) {
    const real = realOf(path);
    if (real !== null && isOpen(real) && closedTo(real) !== null) shown.add(real);
  }
  const covers = new Map<string, string[]>();
  for (const path of withoutNested([...shown])) {
    const folder = closedTo(path);
    if (folder !== null && folder !== path)
      covers.set(folder, [...(covers.get(folder) ?? []), path]);
  }
  // Jobs start in the working directory of the worker, even where they see nothing.
  const around = closedTo(cwd);
  if (around !== null && !covers.has(around)) covers.set(around, []);
  const tops = withoutNested([...covers.keys()]);
  return {
    covers: tops.map((folder) => ({
      folder,
      shown: [...covers].filter(([top]) => isIn(top, folder)).flatMap(([, paths]) => paths),
    })),
    folders: [cwd].filter((folder) => tops.some((top) => isIn(folder, top))),
    hidden: project.hidden.filter((path) => [...shown].some((folder) => isIn(path, folder))),
  };
}

/**
 * The folder of the nearest `package.json`, and what of it is shown. The folder is shown as a whole
 * where other users may read it, so that jobs also see new files. Otherwise its current entries are
 * shown one by one.
 */
function projectOf(jobsPath: string): { shown: string[]; hidden: string[] } {
  const start = statSync(jobsPath, { throwIfNoEntry: false })?.isDirectory()
    ? jobsPath
    : dirname(jobsPath);
  const root = packageRoot(start);
  // Node also looks for modules in every parent folder.
  const modules = foldersAbove(start).map((folder) => join(folder, 'node_modules'));
  const shown = [jobsPath, ...modules];
  if (root === homedir()) {
    return { shown: [...shown, ...OF_A_HOME.map((name) => join(root, name))], hidden: [] };
  }
  const real = realOf(root) ?? root;
  if (!isOpen(real)) return { shown: [...shown, ...childrenOf(root)], hidden: [] };
  return { shown: [...shown, root], hidden: privateOf(real) };
}

/** As a dependency it is among the modules of a project; in a checkout it is a project. */
function oursOf(root: string | null): string[] {
  if (root === null) return [];
  const at = root.split(sep).indexOf('node_modules');
  if (at >= 0)
    return [
      root
        .split(sep)
        .slice(0, at + 1)
        .join(sep),
    ];
  return childrenOf(root);
}

function nodeOf(execPath: string): string[] {
  const bin = dirname(execPath);
  return [bin, join(dirname(bin), 'lib', 'node_modules')];
}

function childrenOf(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => !isPrivate(name))
    .map((name) => join(folder, name));
}

function privateOf(folder: string): string[] {
  return readdirSync(folder)
    .filter(isPrivate)
    .map((name) => join(folder, name));
}

function isPrivate(name: string): boolean {
  return name.startsWith('.') || name === SETTINGS_FILE;
}

function packageRoot(from: string): string {
  return foldersAbove(from).find((folder) => existsSync(join(folder, 'package.json'))) ?? from;
}

/** The folder and all its parents, innermost first. */
function foldersAbove(folder: string): string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...foldersAbove(parent)];
}

function withoutNested(paths: readonly string[]): string[] {
  return paths.filter((path) => !paths.some((other) => other !== path && isIn(path, other)));
}

function isIn(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}${sep}`);
}
