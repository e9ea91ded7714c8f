import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { bundleJobs } from '../../artifacts/bundle.ts';
import { packFolder } from '../../artifacts/pack.ts';
import { inspectArchive } from '../../artifacts/read-archive.ts';
import { signContent } from '../../artifacts/signature.ts';

export interface MadeArchive {
  file: string;
  sha256: string;
  bytes: number;
  /** The manifest as canonical JSON; '' without one. */
  canonical: string;
  /** The commit of the code; null where git knows none. */
  revision: string | null;
  /** Removes temporary files. */
  remove(): Promise<void>;
}

const ARCHIVE = /\.(tar\.gz|tgz|zip)$/;

/** An archive of a folder of definitions, or an archive that exists already. */
export async function makeArchive(
  path: string,
  external: readonly string[],
  note: (line: string) => void,
): Promise<MadeArchive> {
  return ARCHIVE.test(path) && (await stat(path).catch(() => null))?.isFile()
    ? await given(path)
    : await bundled(path, external, note);
}

async function given(file: string): Promise<MadeArchive> {
  const { manifest } = await inspectArchive(file);
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  const canonical = manifest?.canonical ?? '';
  const sha256 = hash.digest('hex');
  return { file, sha256, bytes, canonical, revision: null, remove: async () => undefined };
}

async function bundled(
  path: string,
  external: readonly string[],
  note: (line: string) => void,
): Promise<MadeArchive> {
  const folder = await mkdtemp(join(tmpdir(), 'longshore-deploy-'));
  const remove = async () => await rm(folder, { recursive: true, force: true });
  try {
    const out = join(folder, 'bundle');
    const { manifest, warnings } = await bundleJobs({ jobs: path, out, external });
    for (const warning of warnings) note(`Warning: ${warning}`);
    const file = join(folder, 'bundle.tar.gz');
    const packed = await packFolder(out, file);
    const { canonical } = manifest;
    return { file, ...packed, canonical, revision: await commitOf(path), remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Signs an archive with the private key in a file. */
export async function signArchive(
  { sha256, canonical }: MadeArchive,
  keyFile: string,
): Promise<string> {
  const { keyId, signature } = signContent({ sha256, canonical }, await readFile(keyFile, 'utf8'));
  return `${keyId}:${signature}`;
}

async function commitOf(path: string): Promise<string | null> {
  const run = promisify(execFile);
  const isFile = (await stat(path)).isFile();
  const at = isFile ? dirname(resolve(path)) : path;
  try {
    const { stdout: commit } = await run('git', ['-C', at, 'rev-parse', 'HEAD']);
    const { stdout: changes } = await run('git', ['-C', at, 'status', '--porcelain', '--', '.']);
    return `${commit.trim()}${changes === '' ? '' : '-dirty'}`;
  } catch {
    return null;
  }
}
