import type { Job, JobType, Queue } from 'bullmq';
import { ImportRefused, type Left, type Page, type Source, unreachable } from '../source.ts';
import type { WaitingJob, WaitingSchedule } from '../source.ts';
import { mapJob } from './map-job.ts';
import { type BullScheduler, mapScheduler } from './map-scheduler.ts';

/** An optional dependency: who has jobs of BullMQ has the package. */
const loadBullmq = async (): Promise<{ Queue: typeof Queue }> => await import('bullmq');

export interface BullmqOptions {
  url: string;
  prefix: string;
  queues: readonly string[];
  /** Refuse queues whose workers would run the imported jobs, too. */
  refuseWorkers: boolean;
  load?: typeof loadBullmq;
}

/** The states of jobs that wait, those that run first before the others. */
const STATES = ['wait', 'paused', 'prioritized', 'delayed'] as JobType[];
const PAGE = 200;
/** BullMQ adds up to this many positions to the time of a delayed job. */
const POSITIONS = 0x1000;

/** The jobs of BullMQ, read and removed by BullMQ itself. */
export class BullmqSource implements Source {
  readonly system = 'bullmq';
  readonly #queues: readonly Queue[];

  private constructor(queues: readonly Queue[]) {
    this.#queues = queues;
  }

  static async open(options: BullmqOptions): Promise<BullmqSource> {
    const { url, prefix, queues: names, refuseWorkers, load = loadBullmq } = options;
    const { Queue } = await load().catch((error: unknown) => {
      const words = 'the package "bullmq" cannot be loaded: run "npm install bullmq"';
      throw new ImportRefused(words, { cause: error });
    });
    const connection = { url, maxRetriesPerRequest: 1, retryStrategy: () => null };
    const queues = names.map((name) => {
      // A look at a queue changes nothing in it.
      const queue = new Queue(name, { connection, prefix, skipMetasUpdate: true });
      // An error of the connection fails the call that needs it.
      queue.on('error', () => undefined);
      return queue;
    });
    const source = new BullmqSource(queues);
    try {
      for (const queue of queues) await check(queue, refuseWorkers);
    } catch (error) {
      await source.close();
      throw error;
    }
    return source;
  }

  async close(): Promise<void> {
    await Promise.all(this.#queues.map(async (queue) => await queue.close())).catch(
      () => undefined,
    );
  }

  async *pages(): AsyncGenerator<Page, void, undefined> {
    for (const queue of this.#queues) {
      yield { jobs: [], left: await leftOf(queue), remove: async () => [] };
      for (const state of STATES) yield* pagesOf(queue, state);
    }
  }

  async *schedules(): AsyncGenerator<WaitingSchedule | Left, void, undefined> {
    for (const queue of this.#queues) {
      // All at once: removing one moves the others. There are few.
      const found = (await queue.getJobSchedulers(0, -1, true)) as BullScheduler[];
      for (const scheduler of found) {
        yield mapScheduler(scheduler, queue.name, async () => {
          await queue.removeJobScheduler(scheduler.key);
        });
      }
    }
  }
}

async function check(queue: Queue, refuseWorkers: boolean): Promise<void> {
  await queue.waitUntilReady().catch((error: unknown) => {
    throw unreachable('Redis', error);
  });
  const counts = await queue.getJobCounts();
  const isEmpty = Object.values(counts).every((count) => count === 0);
  if (isEmpty && (await queue.getJobSchedulersCount()) === 0 && !(await isKnown(queue))) {
    throw new ImportRefused(`there is no queue "${queue.name}" in this Redis (see also --prefix)`);
  }
  if (!refuseWorkers || (await queue.isPaused())) return;
  const workers = await queue.getWorkersCount();
  if (workers === 0) return;
  throw new ImportRefused(
    `${workers} workers take jobs of the queue "${queue.name}": stop them or pause the queue ` +
      '(queue.pause()), so that no job runs there and here',
  );
}

/** A queue that BullMQ has used has a hash with its settings. */
async function isKnown(queue: Queue): Promise<boolean> {
  const settings = await (await redisOf(queue)).hgetall(queue.toKey('meta'));
  return Object.keys(settings).length > 0;
}

async function leftOf(queue: Queue): Promise<Left[]> {
  const reasons = {
    active: 'runs there now',
    'waiting-children': 'waits for other jobs there (a flow)',
  };
  const found: Left[] = [];
  for (const [state, reason] of Object.entries(reasons)) {
    const count = await queue.getJobCountByTypes(state as JobType);
    const examples = await queue.getRanges([state as JobType], 0, 2, true);
    if (count > 0) found.push({ queue: queue.name, reason, count, examples });
  }
  return found;
}

/** From the front: what a page has removed is gone, and the next one begins behind the rest. */
async function* pagesOf(queue: Queue, state: JobType): AsyncGenerator<Page, void, undefined> {
  for (let from = 0; ;) {
    const found = (await queue.getJobs([state], from, from + PAGE - 1, true)) as Job[];
    const jobs = found.filter(Boolean);
    if (found.length === 0) return;
    let removed = 0;
    const page = await pageOf(queue, state, jobs, async (ids) => {
      const stayed: string[] = [];
      for (const id of ids) if ((await queue.remove(id)) !== 1) stayed.push(id);
      removed += ids.length - stayed.length;
      return stayed;
    });
    yield page;
    from += found.length - removed;
  }
}

async function pageOf(
  queue: Queue,
  state: string,
  jobs: readonly Job[],
  remove: Page['remove'],
): Promise<Page> {
  const left: Left[] = [];
  const taken: WaitingJob[] = [];
  const facts = await Promise.all(jobs.map(async (job) => await factsOf(queue, state, job)));
  for (const [index, job] of jobs.entries()) {
    const { id = '', name, data, timestamp, priority, attemptsMade, opts } = job;
    const reason = reasonToLeave(job);
    if (reason !== null) left.push({ queue: queue.name, reason, count: 1, examples: [id] });
    else if (facts[index]) {
      const plain = { id, name, data: data as unknown, timestamp, priority, attemptsMade, opts };
      taken.push(mapJob(plain, facts[index]));
    }
  }
  return { jobs: taken, left, remove };
}

function reasonToLeave({ parentKey, repeatJobKey }: Job): string | null {
  if (parentKey !== undefined) return 'other jobs wait for it there (a flow)';
  // The schedule makes this job; it is imported as a schedule.
  if (repeatJobKey !== undefined) return 'the next run of a schedule';
  return null;
}

async function factsOf(queue: Queue, state: string, job: Job) {
  const { id = '', deduplicationId } = job;
  let dueMs: number | null = null;
  if (state === 'delayed') {
    const score = await (await redisOf(queue)).zscore(queue.toKey('delayed'), id);
    if (score !== null) dueMs = Math.floor(Number(score) / POSITIONS);
  }
  const holder = deduplicationId ? await queue.getDeduplicationJobId(deduplicationId) : null;
  return { queue: queue.name, dueMs, holdsDeduplication: holder !== null && holder === id };
}

interface RedisCalls {
  hgetall(key: string): Promise<Record<string, string>>;
  zscore(key: string, member: string): Promise<string | null>;
}

/** Version 6 has moved its connection. */
async function redisOf(queue: Queue): Promise<RedisCalls> {
  const { client, backend } = queue as unknown as {
    client?: Promise<RedisCalls>;
    backend?: { client: Promise<RedisCalls> };
  };
  return (await (client ?? backend?.client)) as RedisCalls;
}
