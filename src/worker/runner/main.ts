import { Socket } from 'node:net';
import { pathToFileURL } from 'node:url';
import { type DefinitionInfo, definitionName } from '../../core/definition/definition.ts';
import { type FromRunner, LineReader, type LoadPlan, messageLine, type ToRunner } from '../ipc.ts';
import type { LoadedModules } from './load/code-hash.ts';
import { loadDefinitions } from './load.ts';
import { measure } from './measure.ts';
import { catchEscaped, receive } from './escaped.ts';
import { byName } from './run.ts';
import { prepareCode } from './prepared-code.ts';
import { RunnerSession } from './session.ts';
import { folderKeeper } from './temp-folder.ts';
import { afterOutput } from './written.ts';

/**
 * The process that runs user code, one job at a time. It has no secrets of the server and no
 * database connection, only the socket to its worker. When that socket closes, the worker is gone and the claim is lost,
 * so the process exits.
 */

const SOCKET_FD = 3;
const [jobsPath = './jobs', folder] = process.argv.slice(2);

const socket = new Socket({ fd: SOCKET_FD, readable: true, writable: true });

// Only the folder that the worker made and named: never empty whatever TMPDIR says.
const emptyFolder = folder === undefined ? null : folderKeeper(folder, () => Date.now());

function send(message: FromRunner): void {
  const line = messageLine(message);
  if (message.type !== 'outcome') return void socket.write(line);
  afterOutput(() => socket.write(line));
  // The worker does its part of the work meanwhile.
  emptyFolder?.();
}

// The worker decides how large params may be.
const reader = new LineReader(Number.POSITIVE_INFINITY);
let session: RunnerSession | undefined;
socket.setEncoding('utf8');
socket.on('data', (chunk: string) => {
  const lines = reader.push(chunk);
  if (!lines) return void process.exit(1);
  for (const line of lines) {
    const message = JSON.parse(line) as ToRunner;
    if (session) receive(session, message);
    else if (message.type === 'load') void begin(message);
  }
});
socket.on('close', () => process.exit(0));
socket.on('error', () => process.exit(0));
// Ctrl-C in a terminal reaches the whole foreground group; only the worker decides when to stop.
process.on('SIGINT', () => undefined);

async function begin(plan: LoadPlan): Promise<void> {
  const { collected, loaded } = prepareCode(plan);
  const { definitions, problems, files } = await loadDefinitions(jobsPath, plan.deployment);
  session = new RunnerSession({
    definitions: byName(definitions),
    send,
    measure,
    setSecrets: (secrets) => Object.assign(process.env, secrets),
    nowMs: () => Date.now(),
    publicUrl: process.env['LONGSHORE_PUBLIC_URL'],
    onDouble: () => process.exit(1),
  });
  catchEscaped(session);
  const infos = definitions.map(({ info }) => info);
  // The worker publishes what its first process says.
  const hashed = plan.files === null && files ? await withHashes(infos, files, loaded) : infos;
  send({ type: 'ready', definitions: hashed, problems, files: collected });
}

async function withHashes(
  infos: readonly DefinitionInfo[],
  files: ReadonlyMap<string, string>,
  loaded: LoadedModules,
): Promise<DefinitionInfo[]> {
  const { codeHash } = await import('./load/code-hash.ts');
  return infos.map((info) => {
    const file = files.get(definitionName(info));
    const hash = file === undefined ? null : codeHash(pathToFileURL(file).href, loaded);
    return hash === null ? info : { ...info, codeHash: hash };
  });
}
