import { z } from 'zod';
import type { CallToolResult, McpServer, ServerContext } from '@modelcontextprotocol/server';
import type { Longshore } from '../client/index.ts';
import type { Scope } from '../core/access/scope.ts';
import { parseBody } from '../protocol/requests/parse-body.ts';
import { VERSION } from '../version.ts';
import { failedCall } from './failed-call.ts';
import { INSTRUCTIONS, NOTICE } from './instructions.ts';
import { offeredTools } from './offered.ts';
import { allowedTools, isOffered, type Plan } from './plan.ts';
import type { Sdk } from './sdk.ts';
import type { Facts } from './text/facts.ts';
import { outline } from './text/outline.ts';
import type { Effect, Workplace } from './tool.ts';
import { TOOLS } from './tools/all.ts';

/** On whose behalf the tools work. */
export interface Caller {
  client: Longshore;
  scopes: readonly Scope[];
}

/** A server with the tools that the plan and the key of the caller allow. */
export async function createServer(
  { McpServer: Server }: Sdk,
  { client, scopes }: Caller,
  plan: Plan,
  now: () => Date,
): Promise<McpServer> {
  const info = { name: 'longshore', title: 'Longshore', version: VERSION };
  // Without a tool, the list is empty instead of missing.
  const capabilities = { tools: {} };
  const server = new Server(info, { instructions: INSTRUCTIONS, capabilities });
  const at = (context: ServerContext): Workplace => ({
    client,
    now,
    signal: context.mcpReq.signal,
    onProgress: progressTo(context),
  });
  for (const tool of allowedTools(TOOLS, plan, scopes)) {
    const { name, title, description, input } = tool;
    const inputSchema = unchecked(z.toJSONSchema(input, { io: 'input' }));
    const annotations = annotationsOf(tool.effect, tool.idempotent);
    const config = { title, description, inputSchema, annotations };
    server.registerTool(name, config, async (args, context) => {
      return await answer(async () => await tool.run(parseBody(input, args), at(context)));
    });
  }
  const isWanted = (key: string) => isOffered(plan, key, scopes);
  // Without an offer, no definition is read.
  const definitions = plan.offers.length === 0 ? [] : await client.definitions();
  for (const tool of offeredTools(definitions, isWanted, plan.waitMs)) {
    const { name, title, description, schema } = tool;
    const annotations = { ...annotationsOf('adds', false), openWorldHint: true };
    const config = { title, description, inputSchema: unchecked(schema), annotations };
    server.registerTool(name, config, async (args, context) => {
      return await answer(async () => await tool.run(args, at(context)));
    });
  }
  return server;
}

async function answer(run: () => Promise<Facts>): Promise<CallToolResult> {
  try {
    return written({ ...(await run()), notice: NOTICE });
  } catch (error) {
    return { ...written({ ...failedCall(error), notice: NOTICE }), isError: true };
  }
}

/** The same facts twice: as text, and as data. */
function written(facts: Facts): CallToolResult {
  return { content: [{ type: 'text', text: outline(facts) }], structuredContent: facts };
}

function annotationsOf(effect: Effect, idempotent: boolean) {
  return {
    readOnlyHint: effect === 'reads',
    destructiveHint: effect === 'ends',
    idempotentHint: idempotent,
    openWorldHint: false,
  };
}

/**
 * A schema that is shown to the client and checks nothing: our own check names the nearest argument,
 * and the server checks params by the schema of their definition.
 */
function unchecked(schema: Record<string, unknown>) {
  const json = () => schema;
  return {
    '~standard': {
      version: 1 as const,
      vendor: 'longshore',
      validate: (value: unknown) => ({ value }),
      jsonSchema: { input: json, output: json },
    },
  };
}

/** Progress is sent where the client asked for it, and only when there is more of it. */
function progressTo({ mcpReq }: ServerContext): Workplace['onProgress'] {
  const { _meta: meta } = mcpReq;
  const progressToken = meta?.progressToken;
  let latest = 0;
  return (progress, message) => {
    if (progressToken === undefined || progress <= latest) return;
    latest = progress;
    const params = { progressToken, progress, total: 1, ...(message !== '' && { message }) };
    // A caller that is gone is no reason to fail.
    void mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined);
  };
}
