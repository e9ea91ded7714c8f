import { type ChildProcess, spawn } from 'node:child_process';

/** The worker under test, in a process group of its own: `go run` and shells have children. */
export class WorkerCommand {
  readonly #child: ChildProcess;
  /** How it ended: "exit code 0", "signal SIGKILL", or why it did not start. */
  readonly ended: Promise<string>;

  constructor(
    [program = '', ...args]: readonly string[],
    env: Readonly<Record<string, string | undefined>>,
    output: NodeJS.WritableStream | null,
  ) {
    const stdio = output ? 'pipe' : 'ignore';
    this.#child = spawn(program, args, { env, detached: true, stdio: ['ignore', stdio, stdio] });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (chunk: Buffer) => output?.write(chunk));
    }
    this.ended = new Promise((resolve) => {
      this.#child.once('error', (error) => resolve(`no process: ${error.message}`));
      this.#child.once('exit', (code, signal) => {
        resolve(signal === null ? `exit code ${code}` : `signal ${signal}`);
      });
    });
  }

  kill(): void {
    const { pid } = this.#child;
    if (pid === undefined) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // It has ended.
    }
  }
}
