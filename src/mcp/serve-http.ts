import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Longshore, ProblemError, ServerUnreachable } from '../client/index.ts';
import { isLoopback } from '../core/access/bind.ts';
import { type Caller, createServer } from './create-server.ts';
import type { Plan } from './plan.ts';
import { loadHttpSdk } from './sdk.ts';

export interface HttpOptions {
  /** The Longshore server. */
  url: string;
  tenant: string | null;
  host: string;
  port: number;
  /** Names of this server in Host and Origin headers, besides those of this machine. */
  allowedHosts: readonly string[];
  onError: (error: Error) => void;
}

export interface HttpServing {
  address: string;
  stop: () => Promise<void>;
}

const PATH = '/mcp';
const LOCAL = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Serves many clients. Each request brings its own API key, so this process has none, keeps nothing
 * between two requests, and can do no more than its caller.
 */
export async function serveHttp(
  plan: Plan,
  now: () => Date,
  options: HttpOptions,
): Promise<HttpServing> {
  const sdk = await loadHttpSdk();
  const { host, port, allowedHosts, onError } = options;
  const names = [...LOCAL, ...[host, ...allowedHosts].map(bracketed)];
  const hasHost = sdk.hostHeaderValidation(names);
  const hasOrigin = sdk.originValidation(names);
  const handler = sdk.createMcpHandler(
    async ({ authInfo }) => {
      const extra = authInfo?.extra as Extra | undefined;
      if (!extra) throw new Error('a request without a caller');
      const { caller } = extra;
      return await createServer(sdk, caller, plan, now);
    },
    { onerror: onError },
  );
  const serve = sdk.toNodeHandler(handler, { onerror: onError });
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (!hasHost(request, response) || !hasOrigin(request, response)) return;
    if (URL.parse(request.url ?? '/', 'http://localhost')?.pathname !== PATH) {
      return refuse(response, 404, `the MCP server is at ${PATH}`);
    }
    const found = await callerOf(request, options);
    if ('status' in found) return refuse(response, found.status, found.words);
    const { caller, key, name } = found;
    const auth = {
      token: key,
      clientId: name,
      scopes: [...caller.scopes],
      extra: { caller } satisfies Extra,
    };
    const { method = 'GET', url = '/' } = request;
    await serve(Object.assign(request, { method, url, auth }), response);
  };
  const http = createHttpServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      onError(error instanceof Error ? error : new Error(String(error)));
      refuse(response, 500, 'internal error');
    });
  });
  http.listen(port, host);
  await once(http, 'listening');
  const { port: bound } = http.address() as AddressInfo;
  return {
    address: `http://${bracketed(host)}:${bound}${PATH}`,
    stop: async () => {
      await handler.close();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

function bracketed(name: string): string {
  return name.includes(':') && !name.startsWith('[') ? `[${name}]` : name;
}

/** What a request hands to the tools. */
interface Extra extends Record<string, unknown> {
  caller: Caller;
}

type Found = { caller: Caller; key: string; name: string } | { status: number; words: string };

/** Asks the server whom the key belongs to, and what it may do. */
async function callerOf(request: IncomingMessage, options: HttpOptions): Promise<Found> {
  const { url, tenant, host } = options;
  const key = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
  const client = new Longshore({ url, apiKey: key, tenant, retries: 0 });
  try {
    const { kind, scopes, keyId } = await client.caller();
    if (kind === 'open' && !isLoopback(host)) {
      const words =
        'Longshore has no API key yet, and this address is not loopback: create a key with ' +
        '"npx longshore keys create --scope admin"';
      return { status: 403, words };
    }
    return { caller: { client, scopes }, key, name: keyId ?? kind };
  } catch (error) {
    if (error instanceof ProblemError && error.status === 401) {
      return { status: 401, words: 'send a Longshore API key: Authorization: Bearer KEY' };
    }
    if (error instanceof ServerUnreachable || error instanceof ProblemError) {
      return { status: 503, words: error.message };
    }
    throw error;
  }
}

/** In the format of JSON-RPC, which clients show. */
function refuse(response: ServerResponse, status: number, message: string): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const challenge = status === 401 ? { 'www-authenticate': 'Bearer realm="longshore"' } : {};
  response.writeHead(status, { 'content-type': 'application/json', ...challenge });
  response.end(JSON.stringify({ jsonrpc: '2.0', error: { code: -32_000, message }, id: null }));
}
