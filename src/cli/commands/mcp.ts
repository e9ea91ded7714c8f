import type { Writable } from 'node:stream';
import type { Command } from 'commander';
import type { Plan } from '../../mcp/index.ts';
import type { Cli } from '../cli.ts';
import { eachOf, patterns, whole } from '../options/option-values.ts';
import { UsageError } from '../options/usage-error.ts';
import { clientOf, configOf, outputOf } from '../session.ts';
import type { Output } from '../text/output.ts';

interface McpOptions {
  allowWrite?: true | string;
  offer?: string[];
  waitSeconds?: number;
  http?: number;
  bind?: string;
  allowedHost?: string[];
}

const WAIT_SECONDS_DEFAULT = 30;
const WAIT_SECONDS_MAX = 600;
const PORT_MAX = 65_535;

export function addMcp(program: Command, cli: Cli): void {
  program
    .command('mcp')
    .summary('offer tools for agents (Model Context Protocol)')
    .description(
      'Serve tools for agents over stdio, or over HTTP with --http. They read only, unless you ' +
        'allow more, and can do no more than the API key. See docs/operate/mcp.md.',
    )
    .option('--allow-write [tools]', 'list tools that change something: all, or these (a,b)')
    .option(
      '--offer <keys>',
      'definitions that are tools of their own, like report.*; may be repeated',
      offers,
    )
    .option(
      '--wait-seconds <number>',
      `how long such a tool waits for its job; default ${WAIT_SECONDS_DEFAULT}`,
      whole,
    )
    .option('--http <port>', 'serve HTTP on this port; each caller sends its own API key', whole)
    .option('--bind <address>', 'address for --http; default 127.0.0.1')
    .option('--allowed-host <name>', 'host name for --http behind a proxy; may be repeated', eachOf)
    .action(async (options: McpOptions, command: Command) => {
      const out = outputOf(cli, command);
      const mcp = await import('../../mcp/index.ts');
      const plan = planOf(options, (names) => mcp.writesProblem(names, mcp.TOOLS));
      const stop = stopRequest(cli);
      const now = () => cli.clock.now();
      const onError = ({ message }: Error) => out.trouble(message);
      if (options.http === undefined) {
        refuseHttpFlags(options);
        const client = clientOf(cli, command);
        const { scopes } = await client.caller();
        const streams = { stdin: cli.stdin, stdout: cli.stdout as Writable, onError };
        await mcp.serveStdio({ client, scopes }, plan, now, streams, stop);
        return;
      }
      const { url, tenant, apiKey } = configOf(cli, command, 'client').config;
      const { bind: host = '127.0.0.1', allowedHost: allowedHosts = [] } = options;
      const port = inRange('--http', options.http, 0, PORT_MAX);
      const where = { url, tenant, host, port, allowedHosts };
      const serving = await mcp.serveHttp(plan, now, { ...where, onError });
      announce(out, serving.address, url, apiKey !== null);
      await aborted(stop);
      await serving.stop();
    });
}

function offers(value: string, before: string[] | undefined): string[] {
  return [...(before ?? []), ...patterns(value)];
}

function planOf(
  { allowWrite, offer = [], waitSeconds = WAIT_SECONDS_DEFAULT }: McpOptions,
  problemOf: (names: readonly string[]) => string | null,
): Plan {
  const waitMs = inRange('--wait-seconds', waitSeconds, 1, WAIT_SECONDS_MAX) * 1_000;
  if (typeof allowWrite !== 'string') {
    return { writes: allowWrite ? 'all' : 'none', offers: offer, waitMs };
  }
  const writes = allowWrite.split(',').map((name) => name.trim());
  const problem = problemOf(writes);
  if (problem !== null) throw new UsageError(`--allow-write: ${problem}`);
  return { writes, offers: offer, waitMs };
}

function refuseHttpFlags({ bind, allowedHost }: McpOptions): void {
  const flag = bind === undefined ? allowedHost && '--allowed-host' : '--bind';
  if (flag) throw new UsageError(`${flag} needs --http`);
}

function inRange(flag: string, value: number, min: number, max: number): number {
  if (value >= min && value <= max) return value;
  throw new UsageError(`${flag} must be from ${min} to ${max}`);
}

function announce(out: Output, address: string, url: string, hasKey: boolean): void {
  if (out.json) out.document({ address, server: url });
  else out.note(`MCP server: ${address} (tools for ${url}). Ctrl-C ends it.`);
  if (hasKey) {
    out.note('LONGSHORE_API_KEY is not used here: each caller sends its own key.');
  }
}

function stopRequest(cli: Cli): AbortSignal {
  const stop = new AbortController();
  cli.onSignal = () => stop.abort();
  return stop.signal;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
