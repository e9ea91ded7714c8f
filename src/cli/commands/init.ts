import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { PACKAGE_ROOT } from '../../runtime/code.ts';
import { scaffold } from '../scaffold.ts';
import { outputOf } from '../session.ts';
import { UsageError } from '../options/usage-error.ts';

export function addInit(program: Command, cli: Cli): void {
  program
    .command('init')
    .summary('create a new project')
    .description('Create a small project with a typed job and its test. Never overwrites a file.')
    .argument('[folder]', 'target folder, created if missing; default: the current folder')
    .action(async (folder: string | undefined, _options: unknown, command: Command) => {
      const out = outputOf(cli, command);
      const here = cli.directory ?? process.cwd();
      const root = resolve(here, folder ?? '.');
      const files = scaffold(packageName(root), checkoutFrom(root));
      const taken = Object.keys(files).filter((path) => existsSync(join(root, path)));
      if (taken.length > 0) {
        throw new UsageError(`${taken.join(', ')} would be overwritten: choose another folder`);
      }
      for (const [path, text] of Object.entries(files)) {
        const target = join(root, path);
        await mkdir(dirname(target), { recursive: true });
        // Fails if another process has created the file meanwhile.
        await writeFile(target, text, { flag: 'wx' });
      }
      if (out.json) return out.document({ folder: root, files: Object.keys(files) });
      out.lines(Object.keys(files));
      const away = relative(here, root);
      out.note('', 'Next:', ...(away === '' ? [] : [`  cd ${inShell(away)}`]), ...NEXT);
    });
}

const NEXT = [
  '  npm install',
  '  npm run dev',
  `  npx longshore enqueue hello '{"name": "you"}' --wait    # in another terminal`,
];

/** A path as a word for a shell. */
function inShell(path: string): string {
  return /^[\w./@+-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}

/** A project created from a checkout depends on that checkout. */
function checkoutFrom(root: string): string | undefined {
  if (!existsSync(join(PACKAGE_ROOT, 'src'))) return undefined;
  return `file:${relative(root, PACKAGE_ROOT)}`;
}

/** A folder name may be no valid package name. */
function packageName(root: string): string {
  const name = basename(root)
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replace(/^[._-]+/, '');
  return name === '' || name === 'longshore' ? 'my-jobs' : name;
}
