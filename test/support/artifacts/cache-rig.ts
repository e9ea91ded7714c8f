import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { lstat, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished } from 'vitest';
import { ArtifactCache, type CacheOptions } from '../../../src/artifacts/cache.ts';
import { until } from '../until.ts';
import { scratch } from './scratch.ts';
import { tarGz } from './tar-bytes.ts';

const CHILD = fileURLToPath(new URL('./cache-child.ts', import.meta.url));
const MANIFEST =
  '{"longshore":1,"runtime":"node","definitions":[{"key":"a","entrypoint":"main:run"}]}';
/** Bytes that do not shrink. */
const noise = (seed: number) =>
  Buffer.concat(
    Array.from({ length: 320 }, (_, at) => createHash('sha256').update(`${seed} ${at}`).digest()),
  );

/** An archive of about 10 KB with a few files. */
export function artifact(seed = 1) {
  const files: Record<string, Buffer> = {
    'longshore.json': Buffer.from(MANIFEST),
    'main.js': Buffer.from(`export const run = () => ${seed};\n`),
    'deep/data.bin': noise(seed),
  };
  const bytes = tarGz(Object.entries(files).map(([name, content]) => ({ name, content })));
  const size = Object.values(files).reduce((sum, { length }) => sum + length, 0);
  return { files, bytes, size, sha256: createHash('sha256').update(bytes).digest('hex') };
}

export async function* inOneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

export async function openCache(folder: string, options: Partial<CacheOptions> = {}) {
  const cache = await ArtifactCache.open({ folder, bytesMax: 1e9, ...options });
  onTestFinished(async () => await cache.close());
  let fetches = 0;
  const take = async ({ sha256, bytes }: ReturnType<typeof artifact>, scope?: string) =>
    await cache.take(
      sha256,
      async () => {
        fetches += 1;
        return inOneChunk(bytes);
      },
      scope === undefined ? {} : { scope },
    );
  return { cache, take, fetches: () => fetches };
}

export const namesIn = async (folder: string, part: string) =>
  (await readdir(join(folder, part))).sort();

/** A complete artifact: each file as it is in the archive, and read-only. */
export async function expectComplete(folder: string, { files }: ReturnType<typeof artifact>) {
  for (const [path, content] of Object.entries(files)) {
    expect((await readFile(join(folder, path))).equals(content)).toBe(true);
    expect((await lstat(join(folder, path))).mode & 0o222).toBe(0);
  }
  for (const path of ['', 'deep']) {
    expect((await lstat(join(folder, path))).mode & 0o777).toBe(0o555);
  }
}

export interface Child {
  process: ChildProcess;
  lines: string[];
  said(line: string): Promise<void>;
  kill(): Promise<void>;
}

export function startChild(...args: string[]): Child {
  const child = spawn(process.execPath, [CHILD, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'close');
  const lines: string[] = [];
  let stderr = '';
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const kill = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  onTestFinished(kill);
  return {
    process: child,
    lines,
    kill,
    async said(line) {
      await until(`the child says ${line}`, () => {
        if (child.exitCode !== null) throw new Error(`the child ended: ${stderr}`);
        return lines.includes(line);
      });
    },
  };
}

export async function storedArtifact(seed = 1) {
  const root = await scratch();
  const one = artifact(seed);
  const archive = join(root, `archive-${seed}`);
  await writeFile(archive, one.bytes);
  return { root, folder: join(root, 'cache'), archive, ...one };
}
