import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';

/** Null where the system cannot say; empty when the client has already closed its end. */
type PeerUsers = readonly number[] | null;

const known = new WeakMap<Socket, Promise<PeerUsers>>();

/**
 * The uid of the process at the other end of a loopback connection, from the kernel. Looked up once
 * per connection. Two clients may have the same port on different loopback addresses: then there
 * are several.
 */
export async function peerUsers(socket: Socket): Promise<PeerUsers> {
  let users = known.get(socket);
  if (!users) known.set(socket, (users = lookUp(socket)));
  return await users;
}

async function lookUp({ remotePort = 0, localPort = 0 }: Socket): Promise<PeerUsers> {
  const tables = await Promise.all(['tcp', 'tcp6'].map(readTable));
  if (tables.every((table) => table === null)) return null;
  return peerUsersIn(tables.join('\n'), remotePort, localPort);
}

async function readTable(name: string): Promise<string | null> {
  return await readFile(`/proc/self/net/${name}`, 'utf8').catch(() => null);
}

/** A socket that no process holds any more (inode 0) has no uid. */
export function peerUsersIn(table: string, clientPort: number, serverPort: number): number[] {
  return table.split('\n').flatMap((line) => {
    const [, local, remote, , , , , uid, , inode] = line.trim().split(/\s+/);
    const isIt = portOf(local) === clientPort && portOf(remote) === serverPort && inode !== '0';
    return isIt ? [Number(uid)] : [];
  });
}

function portOf(address: string | undefined): number {
  return Number.parseInt(address?.split(':')[1] ?? '', 16);
}
