import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '../runtime/code.ts';
import type { Log } from '../runtime/log.ts';

/**
 * The folder of the built dashboard. A package contains it. A checkout has its sources and builds
 * it on the first request for it, and when a source has changed; API users never wait for that. The
 * build is a process of its own, so that requests are answered meanwhile and the server needs no
 * build tools.
 */
/** The sources of the dashboard. It uses types and rules of the core. */
const SOURCES = ['web', 'src/core'];

export function dashboardFolder(log: Log, root = PACKAGE_ROOT): () => Promise<string> {
  const built = join(root, 'dist/web');
  const page = join(built, 'index.html');
  const builder = join(root, 'scripts/build-web.ts');
  return async () => {
    if (existsSync(builder) && (await isStale(root, page))) {
      log.warn('building the dashboard; this takes a few seconds, once');
      await build(builder).catch((error: unknown) => {
        log.error({ err: error }, 'cannot build the dashboard');
      });
    }
    // An older build is better than none.
    if (existsSync(page)) return built;
    throw new Error('the dashboard is not built; see the log of the server');
  };
}

async function isStale(root: string, page: string): Promise<boolean> {
  const builtMs = await changedMs(page).catch(() => 0);
  const folders = SOURCES.map(async (source) => {
    const folder = join(root, source);
    const names = await readdir(folder, { recursive: true });
    return await Promise.all(names.map(async (name) => await changedMs(join(folder, name))));
  });
  return (await Promise.all(folders)).flat().some((changed) => changed > builtMs);
}

async function changedMs(file: string): Promise<number> {
  return (await stat(file)).mtimeMs;
}

const WORDS_MAX = 2_000;

async function build(builder: string): Promise<void> {
  const child = spawn(process.execPath, [builder], { stdio: ['ignore', 'ignore', 'pipe'] });
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output = (output + text).slice(-WORDS_MAX);
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0) throw new Error(output.trim());
}
