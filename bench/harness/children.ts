import type { ChildProcess } from 'node:child_process';

/**
 * Every process that the benchmark starts by itself, so that none outlives it: not after an error,
 * not after Ctrl-C. Each is started `detached`, as the head of a process group, so that its own
 * children end with it. The embedded PostgreSQL ends by itself.
 */
class Children {
  readonly #alive = new Set<ChildProcess>();

  add(child: ChildProcess): void {
    this.#alive.add(child);
    child.on('exit', () => this.#alive.delete(child));
    child.on('error', () => this.#alive.delete(child));
  }

  /** With a patience, SIGTERM first; then SIGKILL to the group. */
  async end(child: ChildProcess, patienceMs = 0): Promise<void> {
    if (!this.#alive.has(child)) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    if (patienceMs > 0) {
      child.kill('SIGTERM');
      const timer = setTimeout(() => killGroup(child), patienceMs);
      await ended;
      clearTimeout(timer);
    }
    killGroup(child);
    await ended;
  }

  async endAll(): Promise<void> {
    await Promise.all([...this.#alive].map(async (child) => await this.end(child)));
  }

  /** For the last moment of the process, when nothing can be waited for. */
  killAll(): void {
    for (const child of this.#alive) killGroup(child);
  }
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // The whole group has ended already.
  }
}

export const children = new Children();
