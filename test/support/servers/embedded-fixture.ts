import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { Client } from 'pg';
import { EmbeddedPostgres, type EmbeddedOptions } from '../../../src/postgres/embedded.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { quickFolder } from '../quick-folder.ts';

export const checkout = path.resolve(import.meta.dirname, '../../..');

export interface AsUser {
  uid?: number;
  gid?: number;
}

/** A folder for embedded clusters, and everything that was started there, for one test. */
export class EmbeddedFixture {
  readonly parent: string;
  dataDir: string;
  readonly #servers: EmbeddedPostgres[] = [];
  readonly #processes: ChildProcess[] = [];

  static async create(): Promise<EmbeddedFixture> {
    return new EmbeddedFixture(await mkdtemp(path.join(tmpdir(), 'longshore-embedded-')));
  }

  /** The same, thrown away soon: it is not the disk that these tests are about. */
  static async createQuick(): Promise<EmbeddedFixture> {
    return new EmbeddedFixture(await quickFolder('longshore-embedded-'));
  }

  constructor(parent: string) {
    this.parent = parent;
    this.dataDir = path.join(parent, 'data');
  }

  get folder(): string {
    return path.join(this.dataDir, 'pg');
  }

  server(options: Partial<EmbeddedOptions> = {}): EmbeddedPostgres {
    const made = new EmbeddedPostgres({ dataDir: this.dataDir, log: silentLog, ...options });
    this.#servers.push(made);
    return made;
  }

  /** As if a server had been started here before and stopped in good order: the data of another. */
  async inherit(other: EmbeddedFixture): Promise<void> {
    await this.run('cp', ['-a', other.dataDir, this.dataDir]);
  }

  spawn(command: string, args: string[], options: AsUser = {}): ChildProcess {
    const child = spawn(command, args, { ...options, stdio: 'ignore' });
    this.#processes.push(child);
    return child;
  }

  async run(command: string, args: string[]): Promise<void> {
    const [code] = (await once(this.spawn(command, args), 'exit')) as [number];
    if (code !== 0) throw new Error(`${command} ended with ${code}`);
  }

  /** Starts the PostgreSQL in a process of its own, the way `longshore start` does. */
  async startElsewhere(from = checkout, options: AsUser = {}) {
    const source = (file: string) => JSON.stringify(pathToFileURL(path.join(from, 'src', file)));
    const script = `
      const { EmbeddedPostgres } = await import(${source('postgres/embedded.ts')});
      const { silentLog } = await import(${source('runtime/log.ts')});
      const server = new EmbeddedPostgres({ dataDir: process.argv[1], log: silentLog });
      const answer = await server.start().then(
        () => ({ url: server.url, pid: server.pid }),
        (error) => ({ refusal: error.message }),
      );
      process.stdout.write(JSON.stringify(answer) + '\\n');`;
    const args = ['--input-type=module', '-e', script, this.dataDir];
    const child = spawn(process.execPath, args, {
      ...options,
      cwd: from,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#processes.push(child);
    const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    const answer = JSON.parse(line) as { url?: string; pid?: number; refusal?: string };
    return { child, url: '', pid: 0, ...answer };
  }

  async remove(): Promise<void> {
    await Promise.all(this.#servers.map(async (server) => server.stop()));
    for (const child of this.#processes) child.kill('SIGKILL');
    const lockFile = await readFile(`${this.folder}/postmaster.pid`, 'utf8').catch(() => '');
    if (await isPostgres(Number.parseInt(lockFile, 10))) kill(Number.parseInt(lockFile, 10));
    // The last processes of a killed server may still be writing.
    await rm(this.parent, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
}

export async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  client.on('error', () => {});
  try {
    await client.connect();
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

export function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It is gone already.
  }
}

export async function isPostgres(pid: number): Promise<boolean> {
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return command.includes('bin/postgres');
}
