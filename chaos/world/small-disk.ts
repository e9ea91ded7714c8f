import { execFile } from 'node:child_process';
import { mkdir, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** What is left when it is full: less than one page of a table. */
const CRUMBS = 4_096;

/** A disk of its own for the database, small enough to be filled up. Only root can have one. */
export class SmallDisk {
  readonly folder: string;
  #mounted = true;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async mount(folder: string, megabytes: number): Promise<SmallDisk | string> {
    await mkdir(folder, { recursive: true });
    try {
      const options = `size=${megabytes}m,mode=755`;
      await run('mount', ['-t', 'tmpfs', '-o', options, 'longshore-chaos', folder]);
    } catch {
      return 'no right to mount a small disk for the database';
    }
    return new SmallDisk(folder);
  }

  async fill(): Promise<void> {
    const { bavail, bsize } = await statfs(this.folder);
    const bytes = Math.max(0, bavail * bsize - CRUMBS);
    if (bytes > 0) await run('fallocate', ['-l', `${bytes}`, this.#ballast]).catch(() => undefined);
  }

  async free(): Promise<void> {
    await rm(this.#ballast, { force: true });
  }

  async unmount(): Promise<void> {
    if (!this.#mounted) return;
    this.#mounted = false;
    await run('umount', ['--lazy', this.folder]);
  }

  get #ballast(): string {
    return join(this.folder, 'ballast');
  }
}
