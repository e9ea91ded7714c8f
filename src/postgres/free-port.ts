import { createHash, randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Why not port 0: the kernel takes such a port from the range of outgoing connections (from 32768
 * on Linux, from 49152 on macOS). While a killed postmaster is down, every pool reconnects to its
 * port, and the kernel may pick the same number as the *source* port of such an attempt: TCP then
 * connects the socket to itself, the pool believes that a server answered, and the postmaster
 * cannot get its port back. So the ports are below that range, and below 30000, where Kubernetes
 * has its node ports.
 *
 * The first choice is computed from the folder's path, so that processes that joined a running
 * cluster find it under the same URL after a restart of `longshore start`.
 */
const firstPort = 20_000;
const portCount = 10_000;

export function homePort(folder: string): number {
  return firstPort + (createHash('sha256').update(folder).digest().readUInt32BE(0) % portCount);
}

/** A port that was free a moment ago, `preferred` if possible. The caller retries a lost race. */
export async function findFreePort(preferred: number): Promise<number> {
  let port = preferred;
  while (!(await isFree(port))) port = firstPort + randomInt(portCount);
  return port;
}

async function isFree(port: number): Promise<boolean> {
  return await new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen({ host: '127.0.0.1', port, exclusive: true }, () => {
      probe.close(() => resolve(true));
    });
  });
}
