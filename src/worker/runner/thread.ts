import { parentPort, workerData } from 'node:worker_threads';
import { type FromRunner, type LoadPlan, messageLine, type ToRunner } from '../ipc.ts';
import { Credit } from './credit.ts';
import { catchEscaped, receive } from './escaped.ts';
import { loadDefinitions } from './load.ts';
import { measureThread } from './measure.ts';
import { byName } from './run.ts';
import { prepareCode } from './prepared-code.ts';
import { RunnerSession } from './session.ts';
import { folderKeeper } from './temp-folder.ts';
import { afterOutput } from './written.ts';

/**
 * Like `main.ts`, as a thread of the worker: messages instead of lines on a socket. They are text
 * too, because user code could send one.
 */

const port = parentPort;
if (!port) throw new Error('this file must run as a thread of a worker');
const { jobsPath, folder, shared, plan } = workerData as {
  jobsPath: string;
  folder: string;
  shared: SharedArrayBuffer;
  plan: LoadPlan;
};
const credit = new Credit(shared);
const emptyFolder = folderKeeper(folder, () => Date.now());

function send(message: FromRunner): void {
  const line = messageLine(message);
  const post = () => port?.postMessage(line);
  credit.spend(line.length);
  if (message.type !== 'outcome') return post();
  afterOutput(post);
  emptyFolder();
}

prepareCode(plan);
const { definitions, problems } = await loadDefinitions(jobsPath, plan.deployment);
const session = new RunnerSession({
  definitions: byName(definitions),
  send,
  measure: measureThread,
  setSecrets: (secrets) => Object.assign(process.env, secrets),
  nowMs: () => Date.now(),
  publicUrl: process.env['LONGSHORE_PUBLIC_URL'],
});

catchEscaped(session);
port.on('message', (line: string) => receive(session, JSON.parse(line) as ToRunner));

send({ type: 'ready', definitions: definitions.map(({ info }) => info), problems });
