import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, open, type FileHandle, readdir, rename, rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';

/** The longest path of a socket on Linux is 107 bytes; other systems have a few less. */
const SOCKET_PATH_MAX = 100;

/**
 * A process that uses a folder together with others. Files that it makes there have its token in
 * their name. While it lives it listens on a socket with that name, and the kernel closes the socket
 * when the process is killed. So others can tell which files have an owner: also if the process is
 * stopped, or runs in another container with the same folder.
 */
export class Owner {
  readonly token: string;
  readonly #folder: string;
  readonly #sockets: Sockets;
  readonly #server: Server;

  private constructor(folder: string, token: string, sockets: Sockets, server: Server) {
    this.#folder = folder;
    this.token = token;
    this.#sockets = sockets;
    this.#server = server;
  }

  static async create(folder: string): Promise<Owner> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const sockets = await Sockets.in(folder);
    for (;;) {
      const token = randomBytes(8).toString('hex');
      const server = createServer((socket) => socket.destroy());
      server.listen(sockets.path(`new-${token}`));
      await once(server, 'listening');
      server.on('error', () => undefined);
      server.unref();
      try {
        // Between its creation and `listen`, a socket looks dead. Under its own name it never does.
        await rename(join(folder, `new-${token}`), join(folder, token));
        return new Owner(folder, token, sockets, server);
      } catch (error) {
        server.close();
        // Another process has just removed it as dead.
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      }
    }
  }

  async isAlive(token: string): Promise<boolean> {
    if (token === this.token) return true;
    return await this.#listens(token);
  }

  /** Removes the sockets of processes that are gone. */
  async sweep(): Promise<void> {
    for (const name of await readdir(this.#folder)) {
      if (name !== this.token && !(await this.#listens(name))) {
        await rm(join(this.#folder, name), { force: true });
      }
    }
  }

  async close(): Promise<void> {
    await rm(join(this.#folder, this.token), { force: true });
    this.#server.close();
    await this.#sockets.close();
  }

  async #listens(name: string): Promise<boolean> {
    const socket = connect(this.#sockets.path(name));
    try {
      await once(socket, 'connect');
      return true;
    } catch (error) {
      // All other errors, such as a full queue, say that there is a process.
      const { code = '' } = error as NodeJS.ErrnoException;
      return !['ECONNREFUSED', 'ENOENT'].includes(code);
    } finally {
      socket.destroy();
    }
  }
}

/** The paths of sockets in a folder, also if the path of the folder is too long for a socket. */
class Sockets {
  readonly #base: string;
  readonly #handle: FileHandle | null;

  private constructor(base: string, handle: FileHandle | null) {
    this.#base = base;
    this.#handle = handle;
  }

  static async in(folder: string): Promise<Sockets> {
    if (Buffer.byteLength(folder) + 22 <= SOCKET_PATH_MAX) return new Sockets(folder, null);
    if (process.platform !== 'linux') {
      throw new Error(`the path ${folder} is too long for a socket: choose a shorter one`);
    }
    const handle = await open(folder, 'r');
    return new Sockets(`/proc/self/fd/${handle.fd}`, handle);
  }

  path(name: string): string {
    return join(this.#base, name);
  }

  async close(): Promise<void> {
    await this.#handle?.close();
  }
}
