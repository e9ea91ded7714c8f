import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { isLoopback } from '../../core/access/bind.ts';
import { networkOf } from './rate-limits.ts';

/** File descriptors reserved for the database, logs and child processes. */
const FILES_KEPT_FREE = 256;
const CONNECTIONS_MAX = 10_000;

/**
 * Maximum number of connections. Each is an open file; without free descriptors the process could
 * neither respond nor query its database.
 */
export function connectionsMax(fileLimit: number | null = openFileLimit()): number {
  if (fileLimit === null) return CONNECTIONS_MAX;
  const left = Math.max(fileLimit - FILES_KEPT_FREE, Math.floor(fileLimit / 2));
  return Math.min(CONNECTIONS_MAX, left);
}

/**
 * Above three quarters of the maximum, idle connections are closed. One address has at most a
 * quarter, except loopback, which may be a proxy.
 */
export function limitConnections(server: Server, max: number): void {
  server.maxConnections = max;
  const byAddress = new Map<string, number>();
  let open = 0;
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? '';
    const name = networkOf(address);
    const own = (byAddress.get(name) ?? 0) + 1;
    open += 1;
    byAddress.set(name, own);
    socket.once('close', () => {
      open -= 1;
      const left = (byAddress.get(name) ?? 1) - 1;
      if (left === 0) byAddress.delete(name);
      else byAddress.set(name, left);
    });
    if (own > max / 4 && !isLoopback(address.replace('::ffff:', ''))) socket.destroy();
    else if (open >= (max * 3) / 4) server.closeIdleConnections();
  });
}

function openFileLimit(): number | null {
  try {
    const [, soft] =
      /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1')) ?? [];
    return soft === undefined ? null : Number(soft);
  } catch {
    return null;
  }
}
