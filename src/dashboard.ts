import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Log } from './runtime/log.ts';

/**
 * Where the built dashboard is. A package carries it. A checkout has its sources and builds it when
 * somebody first asks for it, or when a source has changed since; those who only use the API never
 * wait for that. The build is a process of its own, so that requests are answered meanwhile, and the
 * server needs none of the tools it takes.
 */
const ROOT = fileURLToPath(new URL('../', import.meta.url));
const BUILT = `${ROOT}dist/web`;
const BUILDER = `${ROOT}scripts/build-web.ts`;
/** What the dashboard is made of. It takes words and rules from the core. */
const SOURCES = [`${ROOT}web`, `${ROOT}src/core`];

export function dashboardFolder(log: Log): () => Promise<string> {
  return async () => {
    if (existsSync(BUILDER) && (await isStale())) {
      log.warn('building the dashboard; this takes a few seconds, once');
      await build();
    }
    if (existsSync(`${BUILT}/index.html`)) return BUILT;
    throw new Error('this installation has no dashboard in dist/web; install Longshore again');
  };
}

async function isStale(): Promise<boolean> {
  const builtMs = await changedMs(`${BUILT}/index.html`).catch(() => 0);
  const folders = SOURCES.map(async (folder) => {
    const names = await readdir(folder, { recursive: true });
    return await Promise.all(names.map(async (name) => await changedMs(`${folder}/${name}`)));
  });
  return (await Promise.all(folders)).flat().some((changed) => changed > builtMs);
}

async function changedMs(file: string): Promise<number> {
  return (await stat(file)).mtimeMs;
}

async function build(): Promise<void> {
  const child = spawn(process.execPath, [BUILDER], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr
    .setEncoding('utf8')
    .on('data', (text: string) => (said = (said + text).slice(-2_000)));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0) throw new Error(`the dashboard could not be built: ${said.trim()}`);
}
