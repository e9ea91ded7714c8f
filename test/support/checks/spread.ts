import { makeJobId } from '../../../src/core/job/job-id.ts';
import { type Clock, systemClock } from '../../../src/runtime/clock.ts';
import { Enqueuer } from '../../../src/enqueue/enqueuer.ts';
import { changeLimits } from '../../../src/store/limits/limits.ts';
import type { TestDatabase } from '../servers/database.ts';

/** A process whose view of the definitions never ages: it keeps the spread that it read first. */
export async function frozenEnqueuer({ db, waker }: TestDatabase): Promise<Enqueuer> {
  const enqueuer = new Enqueuer(db, waker, { ...systemClock, monotonicMs: () => 0 });
  await enqueuer.warnings([]);
  return enqueuer;
}

/** A process that reads the definitions anew before each job. */
export function freshEnqueuer({ db, waker }: TestDatabase): Enqueuer {
  return new Enqueuer(db, waker, hastyClock());
}

function hastyClock(): Clock {
  let ms = 0;
  return { ...systemClock, monotonicMs: () => (ms += 60_000) };
}

export async function setSpread({ db }: TestDatabase, key: string, spread: number): Promise<void> {
  await changeLimits(db, 'definition', key, { spread }, null);
}

/** As if all changes of the spread had been made so much earlier. */
export async function ageSpreads({ sql }: TestDatabase, ms: number): Promise<void> {
  await sql(
    `update longshore.spread s set steps = (
       select jsonb_agg(jsonb_build_object('spread', o -> 'spread', 'fromMs', (o ->> 'fromMs')::float8 - $1))
       from jsonb_array_elements(s.steps) o)`,
    [ms],
  );
}

let made = 0;

export function requestIdAt(timeMs: number): string {
  made += 1;
  return makeJobId({ timeMs, sequence: made % 4_096, random: [1, made], shard: 0 });
}
