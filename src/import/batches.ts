import { createHash } from 'node:crypto';
import { type BatchEntry, type Longshore, ProblemError } from '../client/index.ts';
import type { WaitingJob } from './source.ts';

export interface Accepted {
  job: WaitingJob;
  definitionKey: string;
  jobId: string;
}

export interface Refused {
  job: WaitingJob;
  reason: string;
}

/** A job of this run, and the definition that it becomes. */
export type Chosen = Omit<Accepted, 'jobId'>;

const BATCH_JOBS_MAX = 500;
/** A request below the limits of the server and of usual proxies, also when it holds one large job. */
const BATCH_CHARS_MAX = 500_000;
const KEY_MAX = 255;

/**
 * Enqueues jobs in order, many at a time. A job that the server refuses is left out, and the others of
 * its batch are sent again. Each has an idempotency key, so a second run stores nothing twice.
 */
export async function enqueueAll(
  client: Longshore,
  tag: string,
  jobs: readonly Chosen[],
): Promise<{ accepted: Accepted[]; refused: Refused[] }> {
  const accepted: Accepted[] = [];
  const refused: Refused[] = [];
  for (const batch of batchesOf(jobs)) {
    let rest = batch;
    while (rest.length > 0) {
      const answer = await send(client, tag, rest);
      if ('ids' in answer) {
        for (const [index, one] of rest.entries()) {
          accepted.push({ ...one, jobId: answer.ids[index] ?? '' });
        }
        break;
      }
      const { reasons } = answer;
      for (const [index, reason] of reasons) {
        const one = rest[index];
        if (one) refused.push({ job: one.job, reason });
      }
      rest = rest.filter((_one, index) => !reasons.has(index));
    }
  }
  return { accepted, refused };
}

type Answer = { ids: string[] } | { reasons: Map<number, string> };

async function send(client: Longshore, tag: string, jobs: readonly Chosen[]): Promise<Answer> {
  try {
    const handles = await client.enqueueMany(jobs.map((one) => entryOf(one, tag)));
    return { ids: handles.map(({ id }) => id) };
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    const reasons = new Map<number, string>();
    for (const { pointer, detail } of error.errors) {
      const [, index, field = ''] = /^\/jobs\/(\d+)(\/.*)?$/.exec(pointer) ?? [];
      if (index === undefined || Number(index) >= jobs.length) throw error;
      if (!reasons.has(Number(index))) {
        reasons.set(Number(index), `refused here: ${field.slice(1)} ${detail}`);
      }
    }
    if (reasons.size === 0) throw error;
    return { reasons };
  }
}

function entryOf({ job, definitionKey }: Chosen, tag: string): BatchEntry {
  const { params, options, identity } = job;
  return {
    definition: definitionKey,
    params,
    options: { ...options, tags: [tag], idempotencyKey: keyOf(identity) },
  };
}

/** Ids of other systems may be longer than a key. */
function keyOf(identity: string): string {
  const key = `import:${identity}`;
  if (key.length <= KEY_MAX) return key;
  return `import:${createHash('sha256').update(identity).digest('hex')}`;
}

function batchesOf(jobs: readonly Chosen[]): Chosen[][] {
  const batches: Chosen[][] = [];
  let chars = Infinity;
  for (const one of jobs) {
    const size = JSON.stringify(one.job.params).length;
    const last = batches.at(-1);
    if (last && last.length < BATCH_JOBS_MAX && chars + size <= BATCH_CHARS_MAX) {
      last.push(one);
      chars += size;
    } else {
      batches.push([one]);
      chars = size;
    }
  }
  return batches;
}
