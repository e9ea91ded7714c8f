import { mkdir, readdir, rename, rm, rmdir, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sleep } from '../../runtime/deadline.ts';
import type { Owner } from './owner.ts';

const LOOK_AGAIN_MS = 25;

/** Ends the hold. */
export type Unlock = () => Promise<void>;

/**
 * Locks by name between processes. A lock is a folder that contains a file named by its holder. It
 * is taken by the rename of a prepared folder, which succeeds only if there is none or an empty one.
 * The lock of a dead process is broken by removing its file, by name: that can never remove the file
 * of a new holder.
 */
export class Locks {
  readonly #folder: string;
  readonly #owner: Owner;
  #prepared = 0;

  constructor(folder: string, owner: Owner) {
    this.#folder = folder;
    this.#owner = owner;
  }

  /** Waits as long as the holder lives. */
  async take(name: string, signal?: AbortSignal): Promise<Unlock> {
    for (;;) {
      signal?.throwIfAborted();
      const unlock = await this.tryTake(name);
      if (unlock) return unlock;
      await sleep(LOOK_AGAIN_MS, signal);
    }
  }

  /** Null when a live process holds it. */
  async tryTake(name: string): Promise<Unlock | null> {
    const unlock = await this.#takeFree(name);
    if (unlock || !(await this.#breakDead(name))) return unlock;
    return await this.tryTake(name);
  }

  async #takeFree(name: string): Promise<Unlock | null> {
    const { token } = this.#owner;
    this.#prepared += 1;
    const prepared = join(this.#folder, `.${token}-${this.#prepared}`);
    await mkdir(prepared);
    await writeFile(join(prepared, token), '');
    const path = join(this.#folder, name);
    try {
      await rename(prepared, path);
    } catch (error) {
      await rm(prepared, { recursive: true, force: true });
      const { code = '' } = error as NodeJS.ErrnoException;
      if (code === 'ENOTEMPTY' || code === 'EEXIST') return null;
      throw error;
    }
    return async () => {
      await unlink(join(path, token));
      await removeEmpty(path);
    };
  }

  /** Removes what dead processes left. */
  async sweep(): Promise<void> {
    for (const name of await readdir(this.#folder)) {
      const token = /^\.([0-9a-f]+)-/.exec(name)?.[1];
      if (token === undefined) {
        await this.#breakDead(name);
        await removeEmpty(join(this.#folder, name));
      } else if (!(await this.#owner.isAlive(token))) {
        await rm(join(this.#folder, name), { recursive: true, force: true });
      }
    }
  }

  async #breakDead(name: string): Promise<boolean> {
    const path = join(this.#folder, name);
    let broken = false;
    for (const token of await readdir(path).catch(() => [])) {
      if (await this.#owner.isAlive(token)) continue;
      await rm(join(path, token), { force: true });
      broken = true;
    }
    return broken;
  }
}

async function removeEmpty(folder: string): Promise<void> {
  // Fails when it is taken again or removed already.
  await rmdir(folder).catch(() => undefined);
}
