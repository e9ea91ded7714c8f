import { systemInfo } from '../systems/catalogue.ts';
import { notOpened, type Opened } from '../systems/system.ts';
import type { Commands, FromAgent, Request } from './commands.ts';
import { httpLoad } from './http-load.ts';
import { Meter } from './meter.ts';
import { Producer } from './producer.ts';

/**
 * A process in which a measured system runs: as producer, as worker, or as both. The harness forks
 * fresh ones for each measurement and tells them what to do by IPC.
 */

const MICROSECONDS = 1e6;

const meter = new Meter((count) => send({ type: 'count', count }));
let opened: Opened | undefined;
let producer = new Producer({ enqueue: notOpened, enqueueMany: notOpened, stop: notOpened });

const commands: Commands = {
  async load(system) {
    await systemInfo(system).adapter();
  },
  async prepare(system, url, aim) {
    await (await systemInfo(system).adapter()).prepare(url, aim);
  },
  async open(command) {
    const adapter = await systemInfo(command.system).adapter();
    opened = await adapter.open({ ...command, handler: meter.handler });
    producer = new Producer(opened);
  },
  async stop() {
    await opened?.stop();
  },
  enqueueLoop: async (callers, warmupMs, ms) => await producer.loop(callers, warmupMs, ms),
  enqueueBulk: async (count, size, inFlight) => await producer.bulk(count, size, inFlight),
  enqueueOne: async (n) => await producer.one(n),
  enqueueSteadily: async (perSecond, seconds) => await producer.steadily(perSecond, seconds),
  async reportEachStart() {
    meter.reportEachStart();
  },
  marks: async () => meter.marks,
  latencies: async () => meter.latencies,
  async cpuSeconds() {
    const { user, system } = process.cpuUsage();
    return (user + system) / MICROSECONDS;
  },
  httpLoad,
};

function send(message: FromAgent): void {
  // A harness that is gone needs no answer; this process ends with its channel.
  if (process.connected) process.send?.(message);
}

async function answer({ id, name, args }: Request): Promise<void> {
  try {
    const command = commands[name] as (...args: unknown[]) => Promise<unknown>;
    send({ type: 'answer', id, value: await command(...args) });
  } catch (error) {
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
    send({ type: 'failure', id, message });
  }
}

process.on('message', (request) => void answer(request as Request));
process.on('disconnect', () => process.exit());
