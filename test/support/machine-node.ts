import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, symlink } from 'node:fs/promises';
import { delimiter, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** The PATH of a newcomer: without the folders that npm puts before it, which have the pinned Node. */
export function machinePath(path = process.env['PATH'] ?? ''): string {
  return path
    .split(delimiter)
    .filter((folder) => !folder.split(/[\\/]/).includes('node_modules'))
    .join(delimiter);
}

/** The Node that is installed on this machine, whatever its version. */
export function machineNode(): string {
  const env = { PATH: machinePath() };
  const found = spawnSync('node', ['-p', 'process.execPath'], { env, encoding: 'utf8' });
  if (found.status !== 0) throw new Error(`no Node in ${env.PATH}: ${found.stderr}`);
  return found.stdout.trim();
}

interface Manifest {
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
  bin?: Record<string, string> | string;
}

/** What `npm install` would bring to a project by `longshore init`, without a registry. */
export async function linkDependencies(project: string): Promise<void> {
  const modules = join(project, 'node_modules');
  await mkdir(join(modules, '.bin'), { recursive: true });
  const { dependencies, devDependencies } = manifestIn(project);
  for (const [name, wanted] of Object.entries({ ...dependencies, ...devDependencies })) {
    const [, folder] = wanted.split('file:');
    const home = folder === undefined ? join(ROOT, 'node_modules', name) : resolve(project, folder);
    await mkdir(dirname(join(modules, name)), { recursive: true });
    await symlink(home, join(modules, name));
    const { bin = {} } = manifestIn(home);
    for (const [program, file] of Object.entries(typeof bin === 'string' ? { [name]: bin } : bin)) {
      if (existsSync(join(home, file))) {
        await symlink(join('..', name, file), join(modules, '.bin', program));
      }
    }
  }
}

function manifestIn(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}
