import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A small site to try it on: twelve pages in a ring, a link to nowhere, and a moment of being busy. */
export async function startSite(): Promise<{ url: string; stop(): Promise<void> }> {
  let busy = true;
  const server = createServer((request, response) => {
    const page = /^\/page\/(\d+)$/.exec(request.url ?? '')?.[1];
    const number = request.url === '/' ? 0 : page === undefined ? null : Number(page);
    if (number === null || number > 12) return void response.writeHead(404).end();
    if (number === 5 && busy) {
      busy = false;
      return void response.writeHead(429, { 'retry-after': '0' }).end();
    }
    response.writeHead(200, { 'content-type': 'text/html' });
    const link = (to: number) => `<a href="/page/${to}">page ${to}</a>`;
    response.end(`<h1>${number}</h1>${link(number + 1)} ${link(Math.floor(number / 2))}`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
