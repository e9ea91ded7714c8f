import { createServer, type Server } from 'node:net';

/**
 * A lock on a block of uids of this machine: a socket that listens on a name in the kernel's
 * abstract namespace. Only one process can hold it, and it is released when every process that
 * holds it is gone. A crash needs no clean-up.
 */
export class UidLock {
  /** The socket name of the lock on the block that begins there. */
  static socketName(start: number): string {
    return `longshore-uids-${start}`;
  }

  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  /** Null when another process holds it. */
  static async take(start: number): Promise<UidLock | null> {
    const server = createServer((socket) => socket.destroy());
    const taken = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen({ path: `\0${UidLock.socketName(start)}`, exclusive: true }, () =>
        resolve(true),
      );
    });
    if (!taken) return null;
    server.on('error', () => undefined);
    server.unref();
    return new UidLock(server);
  }

  /** For the watchdog, which also holds the lock until it has ended what a killed worker left. */
  get descriptor(): number | null {
    const { _handle: handle } = this.#server as unknown as { _handle: { fd: number } | null };
    return handle && handle.fd >= 0 ? handle.fd : null;
  }

  release(): void {
    this.#server.close();
  }
}
