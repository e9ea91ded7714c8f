import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { peerUsers, peerUsersIn } from './peer-users.ts';

const TABLE = `
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1130 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4711 1
   1: 0100007F:C350 0100007F:1130 01 00000000:00000000 00:00000000 00000000 70012        0 4712 1
   2: 0100007F:1130 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 4713 1
   3: 0100007F:C351 0100007F:1130 06 00000000:00000000 00:00000000 00000000     0        0 0 3
   4: 0200007F:C352 0100007F:1130 01 00000000:00000000 00:00000000 00000000 70013        0 4714 1
   5: 0100007F:C352 0100007F:1130 01 00000000:00000000 00:00000000 00000000  1000        0 4715 1`;

test.each<[clientPort: number, users: number[]]>([
  [50_000, [70_012]],
  [50_001, []],
  [50_002, [70_013, 1_000]],
  [50_003, []],
])('whose the client at port %i is', (clientPort, users) => {
  expect(peerUsersIn(TABLE, clientPort, 4_400)).toEqual(users);
});

test.runIf(process.platform === 'linux').each(['127.0.0.1', '::1'])(
  'a client of this process at %s is ours, until it has gone',
  async (host) => {
    const server = createServer().listen(0, host);
    await once(server, 'listening');
    const address = server.address() as { port: number };
    const dial = async () => {
      const client = connect(address.port, host);
      const [socket] = (await once(server, 'connection')) as [Socket];
      return { client, socket };
    };
    const first = await dial();
    expect(await peerUsers(first.socket)).toEqual([process.getuid?.()]);
    const second = await dial();
    second.client.destroy();
    await once(second.client, 'close');
    expect(await peerUsers(second.socket)).toEqual([]);
    for (const { client, socket } of [first, second]) {
      client.destroy();
      socket.destroy();
    }
    server.close();
  },
);
