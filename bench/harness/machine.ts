import { execFileSync } from 'node:child_process';
import { closeSync, fdatasyncSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cpus, release, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { nowMs } from './clock.ts';
import { figure, median } from './numbers.ts';

const PEERS = ['graphile-worker', 'pg-boss', 'bullmq', 'ioredis', 'pg'];
const SYNCS = 100;

/** What the figures were taken on; without it they mean nothing. */
export function machineLines(folder: string, postgresVersion: string): string[] {
  const processors = cpus();
  const peers = PEERS.map((name) => `${name} ${versionOf(name)}`).join(', ');
  return [
    `${processors.length} × ${processors[0]?.model ?? 'unknown processor'}, ` +
      `${Math.round(totalmem() / 2 ** 30)} GB, Linux ${release()}, ` +
      `fdatasync of 8 kB ${figure(syncMs(folder) * 1_000)} µs (${folder})`,
    `Node ${process.versions.node}, PostgreSQL ${postgresVersion} (fsync, synchronous_commit and ` +
      'full_page_writes on, shared_buffers 256MB, otherwise its defaults), ' +
      `Redis ${redisVersion()} (appendonly)`,
    `longshore ${ownVersion()}, ${peers}`,
  ];
}

/** The commit of this checkout. */
export function commitOf(): string {
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: import.meta.dirname, encoding: 'utf8' }).trim();
  try {
    const changed = git('status', '--porcelain', '--untracked-files=no') !== '';
    return `${git('rev-parse', '--short', 'HEAD')}${changed ? ' with changes' : ''}`;
  } catch {
    return 'unknown';
  }
}

/** What the disk takes for one small durable write: no durable commit can be faster. */
function syncMs(folder: string): number {
  const path = join(folder, 'sync-test');
  const file = openSync(path, 'w');
  const block = Buffer.alloc(8_192, 1);
  const times = Array.from({ length: SYNCS }, () => {
    const startMs = nowMs();
    writeSync(file, block, 0, block.length, 0);
    fdatasyncSync(file);
    return nowMs() - startMs;
  });
  closeSync(file);
  rmSync(path);
  return median(times);
}

function redisVersion(): string {
  try {
    return /v=(\S+)/.exec(execFileSync('redis-server', ['--version']).toString())?.[1] ?? '?';
  } catch {
    return 'missing';
  }
}

function ownVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

/** Not every package lets its package.json be imported, so it is looked for beside the entry. */
function versionOf(name: string): string {
  let folder = dirname(createRequire(import.meta.url).resolve(name));
  for (; folder !== dirname(folder); folder = dirname(folder)) {
    try {
      const text = readFileSync(join(folder, 'package.json'), 'utf8');
      const found = JSON.parse(text) as { name?: string; version?: string };
      if (found.name === name) return found.version ?? '?';
    } catch {
      continue;
    }
  }
  return '?';
}
