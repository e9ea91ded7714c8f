import { fileURLToPath } from 'node:url';
import { Queue, Worker, createPostgresBackend, runMigrations, withBackend } from 'bullmq';
import pg from 'pg';
import { type Adapter, type OpenOptions, type Opened, notOpened, type Params } from './system.ts';

const name = 'bench';
const options = { removeOnComplete: true, removeOnFail: true };
/** Run by BullMQ's sandbox: a pool of child processes, one job at a time in each. */
const processorFile = fileURLToPath(new URL('../definitions/bullmq-processor.js', import.meta.url));

export const adapter: Adapter = {
  async prepare(url) {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await runMigrations(client);
    await client.end();
  },
  async open({ role, url, isolation, handler }: OpenOptions) {
    const onRedis = url.startsWith('redis:');
    if (role === 'producer') return onRedis ? redisProducer(url) : postgresProducer(url);
    const processor =
      isolation === 'inline' ? async (job: { data: Params }) => handler(job.data) : processorFile;
    const concurrency = isolation === 'inline' ? (onRedis ? 200 : 24) : 4;
    return onRedis
      ? await redisWorker(url, processor, concurrency)
      : await postgresWorker(url, processor, concurrency);
  },
};

/** A function for this process, or the file that a sandboxed one runs. */
type Processor = ((job: { data: Params }) => Promise<void>) | string;

interface AnyQueue {
  add(name: string, data: Params): Promise<unknown>;
  addBulk(jobs: { name: string; data: Params }[]): Promise<unknown>;
  waitUntilReady(): Promise<unknown>;
  close(): Promise<void>;
}

async function producer(queue: AnyQueue): Promise<Opened> {
  await queue.waitUntilReady();
  return {
    enqueue: async (params) => await queue.add('noop', params),
    enqueueMany: async (list) => await queue.addBulk(list.map((data) => ({ name: 'noop', data }))),
    stop: async () => await queue.close(),
  };
}

async function redisProducer(url: string): Promise<Opened> {
  return await producer(new Queue(name, { connection: { url }, defaultJobOptions: options }));
}

async function postgresProducer(url: string): Promise<Opened> {
  const backend = withBackend(createPostgresBackend);
  const connection = { connectionString: url };
  return await producer(new backend.Queue(name, { connection, defaultJobOptions: options }));
}

async function redisWorker(
  url: string,
  processor: Processor,
  concurrency: number,
): Promise<Opened> {
  const connection = { url, maxRetriesPerRequest: null };
  const worker = new Worker(name, processor, { connection, concurrency });
  worker.on('error', () => {});
  await worker.waitUntilReady();
  return { enqueue: notOpened, enqueueMany: notOpened, stop: async () => await worker.close() };
}

async function postgresWorker(
  url: string,
  processor: Processor,
  concurrency: number,
): Promise<Opened> {
  const backend = withBackend(createPostgresBackend);
  const connection = { connectionString: url, max: concurrency + 1 };
  const worker = new backend.Worker(name, processor, { connection, concurrency });
  worker.on('error', () => {});
  await worker.waitUntilReady();
  return { enqueue: notOpened, enqueueMany: notOpened, stop: async () => await worker.close() };
}
