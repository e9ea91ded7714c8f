import { StartRefusal } from '../runtime/start-refusal.ts';

/** Optional dependencies, loaded only when needed. */
const loadServer = async () => await import('@modelcontextprotocol/server');
const loadStdio = async () => await import('@modelcontextprotocol/server/stdio');
const loadNode = async () => await import('@modelcontextprotocol/node');

export type Sdk = Awaited<ReturnType<typeof loadServer>>;
export type StdioSdk = Awaited<ReturnType<typeof loadStdio>>;
export type NodeSdk = Awaited<ReturnType<typeof loadNode>>;

export async function loadStdioSdk(
  load = async () => await Promise.all([loadServer(), loadStdio()]),
): Promise<Sdk & StdioSdk> {
  const [server, stdio] = await load().catch(missing(SERVER_PACKAGE));
  return { ...server, ...stdio };
}

export async function loadHttpSdk(
  load = async () => await Promise.all([loadServer(), loadNode()]),
): Promise<Sdk & NodeSdk> {
  const [server, node] = await load().catch(missing(`${SERVER_PACKAGE} ${NODE_PACKAGE}`));
  return { ...server, ...node };
}

const SERVER_PACKAGE = '@modelcontextprotocol/server';
const NODE_PACKAGE = '@modelcontextprotocol/node';

function missing(packages: string): (cause: unknown) => never {
  return (cause) => {
    const words = `the MCP SDK cannot be loaded: run "npm install ${packages}"`;
    throw new StartRefusal('configuration', words, { cause });
  };
}
