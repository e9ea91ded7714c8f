import { setTimeout as sleep } from 'node:timers/promises';
import { defineJob } from '../../src/index.ts';

/** The definitions of `npm run capacity`: each is one kind of job whose cost is measured. */
interface Params {
  n?: number;
  at?: number;
  /** What the params are filled up with. */
  fill?: string;
  resultBytes?: number;
  logLines?: number;
}

/** Text that does not compress, so that the measured size is the largest for its length. */
export function noise(bytes: number): string {
  let text = '';
  while (text.length < bytes) text += Math.random().toString(36).slice(2);
  return text.slice(0, bytes);
}

export const inline = defineJob({
  key: 'inline',
  isolation: 'inline',
  run: ({ resultBytes }: Params) => (resultBytes ? noise(resultBytes - 2) : null),
});

/** Settles at another time than it was claimed, like a job that does something. */
export const short = defineJob({
  key: 'short',
  isolation: 'inline',
  run: async (_params: Params) => await sleep(100, null),
});

export const warm = defineJob({
  key: 'process',
  isolation: 'process',
  run: (_params: Params) => null,
});

export const fresh = defineJob({
  key: 'fresh',
  isolation: 'fresh',
  run: (_params: Params) => null,
});

export const failing = defineJob({
  key: 'failing',
  isolation: 'inline',
  maxAttempts: 2,
  retry: { delaysMs: [1], jitter: 0 },
  run: (_params: Params, { attempt }) => {
    if (attempt === 1) throw new Error('the other side answered 503 Service Unavailable');
    return null;
  },
});

export const logging = defineJob({
  key: 'logging',
  isolation: 'inline',
  run: ({ logLines = 0 }: Params, { logger }) => {
    for (let n = 0; n < logLines; n += 1) logger.info(noise(100));
    return null;
  },
});

export const limited = defineJob({
  key: 'limited',
  isolation: 'inline',
  concurrencyLimit: 500,
  run: (_params: Params) => null,
});

export const watched = defineJob({
  key: 'watched',
  isolation: 'inline',
  run: (_params: Params) => null,
});
