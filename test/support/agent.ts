import {
  Client,
  type ClientOptions,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { BIN } from './processes.ts';

const connected = new Set<Client>();

export async function endAgents(): Promise<void> {
  await Promise.all([...connected].map(async (client) => await client.close()));
  connected.clear();
}

/** An agent that uses `longshore mcp`, with the client of the official SDK. */
export interface Agent {
  client: Client;
  /** The names of the tools. */
  tools(): Promise<string[]>;
  /** The answer of a tool as data; a refusal is an error of the test. */
  ask<Answer = Record<string, unknown>>(tool: string, args?: object): Promise<Answer>;
  /** The refusal of a tool as text. */
  refused(tool: string, args?: object): Promise<string>;
}

export async function stdioAgent(args: string[], env: Record<string, string>): Promise<Agent> {
  const command = process.execPath;
  return await agent(new StdioClientTransport({ command, args: [BIN, 'mcp', ...args], env }));
}

export async function httpAgent(address: string, key: string | null): Promise<Agent> {
  const headers: Record<string, string> = key === null ? {} : { authorization: `Bearer ${key}` };
  const options = { requestInit: { headers } };
  // The newest protocol; stdio above speaks the one before, as most clients do.
  const transport = new StreamableHTTPClientTransport(new URL(address), options);
  return await agent(transport, { versionNegotiation: { mode: 'auto' } });
}

async function agent(
  transport: Parameters<Client['connect']>[0],
  options: ClientOptions = {},
): Promise<Agent> {
  const client = new Client({ name: 'test', version: '1' }, options);
  await client.connect(transport);
  connected.add(client);
  const call = async (name: string, args: object = {}) => {
    const answer = await client.callTool({ name, arguments: { ...args } });
    const [block] = answer.content;
    return { ...answer, text: block?.type === 'text' ? block.text : '' };
  };
  return {
    client,
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    ask: async <Answer>(name: string, args?: object) => {
      const { isError, text, structuredContent } = await call(name, args);
      if (isError) throw new Error(`${name} refused: ${text}`);
      return structuredContent as Answer;
    },
    refused: async (name, args) => {
      const { isError, text } = await call(name, args);
      if (!isError) throw new Error(`${name} answered: ${text}`);
      return text;
    },
  };
}
