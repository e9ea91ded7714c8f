import { setImmediate } from 'node:timers/promises';
import { systemInfo } from '../systems/catalogue.ts';
import { notOpened, type Opened, type Params } from '../systems/system.ts';
import type { Commands, FromAgent, Request } from './commands.ts';
import { httpLoad } from './http-load.ts';
import { Meter } from './meter.ts';
import { Producer } from './producer.ts';
import { Profiler } from './profiler.ts';

/**
 * A process in which a measured system runs: as producer, as worker, or as both. The harness forks
 * fresh ones for each measurement and commands them by IPC.
 */

const meter = new Meter((count) => send({ type: 'count', count }));
let opened: Opened | undefined;
let profiler: Profiler | undefined;
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
    const failable = failing(meter.handler, command.failEvery ?? 0);
    const handler = command.awaits ? awaiting(failable) : failable;
    opened = await adapter.open({ ...command, handler });
    if (command.profileFolder !== undefined) {
      profiler = new Profiler(command.profileFolder, command.role);
      await profiler.start();
    }
    producer = new Producer(opened);
  },
  async writeProfile() {
    await profiler?.write();
    profiler = undefined;
  },
  async stop() {
    await commands.writeProfile();
    await opened?.stop();
  },
  enqueueLoop: async (callers, ms) => await producer.loop(callers, ms),
  enqueueBulk: async (count, size, inFlight) => await producer.bulk(count, size, inFlight),
  enqueueOne: async (n) => await producer.one(n),
  enqueueSteadily: async (perSecond, seconds) => await producer.steadily(perSecond, seconds),
  async reportEachStart() {
    meter.reportEachStart();
  },
  marks: async () => meter.marks,
  latencies: async () => meter.latencies,
  httpLoad,
};

/** The same handler; it throws for one of `every` jobs. */
function failing(handler: (params: Params) => void, every: number): (params: Params) => void {
  if (every === 0) return handler;
  return (params) => {
    handler(params);
    if (params.n % every === 0) throw new Error('this job fails on purpose');
  };
}

/** The same handler; it then waits as for an answer that is already there. */
function awaiting(handler: (params: Params) => void): (params: Params) => Promise<void> {
  return async (params) => {
    handler(params);
    await setImmediate();
  };
}

function send(message: FromAgent): void {
  // Without the harness there is no channel; this process then ends, too.
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
