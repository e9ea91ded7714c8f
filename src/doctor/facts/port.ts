import { createServer } from 'node:net';
import { resolve } from 'node:path';
import { defaultUrl } from '../../config/bind.ts';
import type { Config } from '../../config/config.ts';
import { findAddress } from '../../config/left-address.ts';
import { bindProblem } from '../../core/access/bind.ts';
import { problemType } from '../../protocol/problem.ts';
import { ProbeAnswer } from '../../protocol/answers/probe-answer.ts';
import type { PortFacts } from '../port.ts';
import { troubleOf } from './trouble.ts';

const ANSWER_MS = 2_000;

/** Whether a server could listen there, or already does. */
export async function inspectPort(host: string, port: number, hasKey: boolean): Promise<PortFacts> {
  const reason = bindProblem(host, hasKey);
  if (reason !== null) return { state: 'refused', reason };
  if (port === 0) return { state: 'any' };
  const url = defaultUrl({ host, port });
  const where = url.replace('http://', '');
  const code = await tryToListen(host, port);
  if (code === null) return { state: 'free', where };
  if (code !== 'EADDRINUSE') return { state: 'forbidden', where, code };
  const server = await askServer(url);
  return server === null ? { state: 'taken', where } : { state: 'longshore', where, ...server };
}

/** Why a server with these settings cannot listen there, because another one does; null if none does. */
export async function takenPort(
  settings: Pick<Config, 'host' | 'port' | 'data'>,
): Promise<string | null> {
  const { host, port, data } = settings;
  const facts = await inspectPort(host, port, true);
  if (facts.state !== 'longshore' && facts.state !== 'taken') return null;
  const url = defaultUrl({ host, port });
  if (facts.state === 'longshore' && findAddress(resolve(data)) === url) {
    return `the server of this folder runs already: ${url} (its data is in ${data})`;
  }
  const version = facts.state === 'longshore' && facts.version ? ` (${facts.version})` : '';
  const who = facts.state === 'longshore' ? `another Longshore${version}` : 'another program';
  return `${who} uses port ${port} on ${host}; stop it, or choose another port: --port ${port + 1}`;
}

/** Null on success, else the error code. */
async function tryToListen(host: string, port: number): Promise<string | null> {
  return await new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', (error) => resolve(troubleOf(error).code ?? error.name));
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve(null)));
  });
}

/** Null if it is not a Longshore server. */
async function askServer(url: string): Promise<{ version: string | null; ready: boolean } | null> {
  try {
    const signal = AbortSignal.timeout(ANSWER_MS);
    const answer: unknown = await (await fetch(`${url}/readyz?verbose`, { signal })).json();
    const probe = ProbeAnswer.safeParse(answer);
    if (probe.success && probe.data.version) return { version: probe.data.version, ready: true };
    const type = (answer as { type?: unknown } | null)?.type;
    return type === problemType('UNAVAILABLE') ? { version: null, ready: false } : null;
  } catch {
    return null;
  }
}
