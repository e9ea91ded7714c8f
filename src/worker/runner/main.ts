import { Socket } from 'node:net';
import { classify } from '../../core/classify.ts';
import type { JobDefinition } from '../../core/define.ts';
import {
  type FromRunner,
  LineReader,
  messageLine,
  type RunCommand,
  type ToRunner,
} from '../ipc.ts';
import { createContext } from './context.ts';
import { loadDefinitions } from './load.ts';
import { runJob } from './run.ts';

/**
 * The process that runs user code: one job at a time. It holds no secrets and no database
 * connection; all it has is the socket to its worker. When that socket closes, the worker is gone
 * and with it the claim, so the process ends.
 */

const SOCKET_FD = 3;
const [jobsPath = './jobs'] = process.argv.slice(2);

const socket = new Socket({ fd: SOCKET_FD, readable: true, writable: true });
const definitions = new Map<string, JobDefinition>();
let current: { job: RunCommand; abort: AbortController; cpu: NodeJS.CpuUsage } | undefined;

function send(message: FromRunner): void {
  socket.write(messageLine(message));
}

function sendOutcome(
  claim: number,
  outcome: OutcomeMessage['outcome'],
  cpu: NodeJS.CpuUsage,
): void {
  const { user, system } = process.cpuUsage(cpu);
  const cpuMs = Math.round((user + system) / 1_000);
  const peakRssBytes = process.resourceUsage().maxRSS * 1_024;
  send({ type: 'outcome', claim, outcome, cpuMs, peakRssBytes });
}
type OutcomeMessage = Extract<FromRunner, { type: 'outcome' }>;

async function run(job: RunCommand): Promise<void> {
  const abort = new AbortController();
  const cpu = process.cpuUsage();
  current = { job, abort, cpu };
  const name = `${job.key}@${job.version}`;
  const ctx = createContext(job, () => abort.signal, send);
  const outcome = await runJob(definitions.get(name), name, job.params, ctx, () => Date.now());
  current = undefined;
  sendOutcome(job.claim, outcome, cpu);
}

function receive(message: ToRunner): void {
  if (message.type === 'run') {
    void run(message.job);
  } else if (current?.job.claim === message.claim) {
    current.abort.abort(
      new DOMException(`the job was asked to stop: ${message.reason}`, 'AbortError'),
    );
  }
}

/** An error that escaped the job's own promise leaves the process in doubt: tell, then end. */
function fatal(error: unknown): void {
  const running = current;
  current = undefined;
  if (!running) throw error;
  const outcome = { kind: 'failure', ...classify(error, Date.now()) } as const;
  sendOutcome(running.job.claim, outcome, running.cpu);
  socket.end(() => process.exit(1));
}

const reader = new LineReader();
socket.setEncoding('utf8');
socket.on('data', (chunk: string) => {
  const lines = reader.push(chunk);
  if (!lines) return void process.exit(1);
  for (const line of lines) receive(JSON.parse(line) as ToRunner);
});
socket.on('close', () => process.exit(0));
socket.on('error', () => process.exit(0));
process.on('uncaughtException', fatal);
// Ctrl-C in a terminal reaches the whole foreground group; only the worker decides when to stop.
process.on('SIGINT', () => undefined);

const loaded = await loadDefinitions(jobsPath);
for (const definition of loaded.definitions) {
  definitions.set(`${definition.key}@${definition.version}`, definition);
}
send({
  type: 'ready',
  definitions: loaded.definitions.map((definition) => definition.info),
  problems: loaded.problems,
});
