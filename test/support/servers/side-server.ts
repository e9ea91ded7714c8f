import { type ChildProcess, spawn } from 'node:child_process';
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort, homePort } from '../../../src/postgres/free-port.ts';
import { isRoot, nobodyUser } from '../../../src/postgres/server-user.ts';
import { until } from '../until.ts';

interface Setup {
  args: string[];
  files?: Record<string, string>;
  /** Beside the environment of the tests. */
  env?: Record<string, string>;
}

/**
 * A server of Debian's that a test runs beside the database (PgBouncer, Redis, RabbitMQ): in a folder of its
 * own, on a port of its own, killed and started again as the test likes.
 */
export class SideServer {
  readonly port: number;
  readonly #folder: string;
  readonly #command: string;
  readonly #args: readonly string[];
  readonly #env: Record<string, string>;
  #child: ChildProcess | undefined;

  private constructor(folder: string, port: number, command: string, { args, env }: Setup) {
    this.#folder = folder;
    this.port = port;
    this.#command = command;
    this.#args = args;
    this.#env = env ?? {};
  }

  /** `files` go into its folder; `args` may need to know where that is, and the port. */
  static async create(
    command: string,
    configure: (folder: string, port: number) => Setup | Promise<Setup>,
  ): Promise<SideServer> {
    const folder = await mkdtemp(join(tmpdir(), 'longshore-side-'));
    const port = await findFreePort(homePort(folder));
    const setup = await configure(folder, port);
    const { files = {} } = setup;
    for (const [name, text] of Object.entries(files)) {
      await writeFile(join(folder, name), text, { mode: 0o600 });
    }
    const names = [folder, ...Object.keys(files).map((name) => join(folder, name))];
    if (isRoot()) for (const name of names) await chown(name, nobodyUser.uid, nobodyUser.gid);
    return new SideServer(folder, port, command, setup);
  }

  async start(patienceMs?: number): Promise<void> {
    // Such servers refuse to run as root.
    const user = isRoot() ? nobodyUser : {};
    const child = spawn(this.#command, this.#args, {
      ...user,
      cwd: this.#folder,
      env: { ...process.env, ...this.#env },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let words = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (words += text));
    this.#child = child;
    const isUp = async () => {
      if (child.exitCode !== null) throw new Error(`${this.#command} ended at once:\n${words}`);
      return await listens(this.port);
    };
    await until(`${this.#command} listens`, isUp, patienceMs);
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  /** As a power cut would. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.kill('SIGKILL');
    await gone;
  }

  async remove(): Promise<void> {
    await this.kill();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

async function listens(port: number): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
