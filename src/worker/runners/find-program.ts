import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, resolve } from 'node:path';

/**
 * Why a program cannot run, with the paths that were searched; null when it can. The shell that
 * starts it would only return a number.
 */
export function programProblem(program: string, cwd: string, path: string): string | null {
  if (!isFolder(cwd)) return `the folder to run "${program}" in is not there: ${cwd}`;
  if (program.includes('/')) {
    const file = resolve(cwd, program);
    return isProgram(file) ? null : `"${program}" is no program that can be run: ${file}`;
  }
  const folders = path.split(delimiter).filter(Boolean);
  if (folders.some((folder) => isProgram(resolve(cwd, folder, program)))) return null;
  return `the program "${program}" was not found in PATH (${folders.join(delimiter)})`;
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
