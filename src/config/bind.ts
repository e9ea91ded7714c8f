import { isLoopback } from '../core/access/bind.ts';

/** Default URL of client commands: the server that the same settings start. */
export function defaultUrl({ host, port }: { host: string; port: number }): string {
  const name = isLoopback(host) ? host : '127.0.0.1';
  const bracketed = name.includes(':') && !name.startsWith('[') ? `[${name}]` : name;
  // Port 0 is any free port, which is unknown here, so the default port is used.
  return `http://${bracketed}:${port === 0 ? 4_400 : port}`;
}
