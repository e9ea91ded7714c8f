import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A proxy that shows a server below a path, as they stand in front of many tools of a team. */
export async function prefixProxy(target: string, prefix: string) {
  const strays: string[] = [];
  const server = createServer((incoming, outgoing) => {
    const { url = '', method, headers } = incoming;
    if (!url.startsWith(`${prefix}/`)) {
      strays.push(url);
      outgoing.writeHead(404).end();
      return;
    }
    const onward = request(
      new URL(url.slice(prefix.length), target),
      { method, headers },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      },
    );
    onward.on('error', () => outgoing.destroy());
    outgoing.on('close', () => onward.destroy());
    incoming.pipe(onward);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    address: `http://127.0.0.1:${port}`,
    /** Requests outside of its prefix: a correct page makes none. */
    strays,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
