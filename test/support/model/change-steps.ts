import fc from 'fast-check';
import { expect } from 'vitest';
import { isTerminal } from '../../../src/core/job/job.ts';
import { defineJob } from '../../../src/core/definition/define.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { failUnserved } from '../../../src/scheduler/unserved.ts';
import { JobLog } from '../../../src/signals/job-log.ts';
import { cancelJob } from '../../../src/store/change/cancel-job.ts';
import { publishDefinitions } from '../../../src/store/enqueue/definitions.ts';
import { expireJobs } from '../../../src/store/claim/expire.ts';
import { promote } from '../../../src/store/claim/promote.ts';
import { releaseJob } from '../../../src/store/change/release-job.ts';
import { CHILDREN, isOwned, type Model, type ModelJob } from './model.ts';
import { aJob, findJob, type JobPick } from './picks.ts';
import { readRows } from './rows.ts';
import { levelsOf } from './settle-steps.ts';
import { type Step, step } from './step.ts';
import { TENANTS, type World } from './world.ts';

/** More than any job here waits: even the year 2100 is over after so many days. */
const LONG_DAYS = 36_500;

export const aChange = fc.record({
  pick: aJob,
  /** Whether a tenant asks for a job of another one. */
  foreign: fc.constantFrom(false, false, false, false, false, true),
});

const isOpen = ({ state }: ModelJob) => !isTerminal(state) && state !== 'queued';

/** Open children, and not of claims, of jobs that wait for their children. */
function awaited(model: Readonly<Model>): Set<string> {
  const parents = [...model.jobs.values()].filter(({ waitsFor }) => waitsFor === CHILDREN);
  const open = parents.flatMap(({ children }) => children.filter(({ ended }) => ended === null));
  return new Set(
    open.flatMap(({ id }) => {
      const child = model.jobs.get(id);
      return child && !isOwned(child) && !isTerminal(child.state) ? [id] : [];
    }),
  );
}

export const cancelStep: fc.Arbitrary<Step> = aChange.map((use) =>
  step('cancel', use, async (model, world) => await cancel(model, world, use, isOpen)),
);

/** The last child may be among them: its parent goes on. */
export const cancelChildStep: fc.Arbitrary<Step> = aChange.map((use) =>
  step(
    'cancelChild',
    use,
    async (model, world) => {
      const ids = awaited(model);
      await cancel(model, world, use, ({ id }) => ids.has(id));
    },
    (model) => awaited(model).size > 0,
  ),
);

async function cancel(
  model: Model,
  world: World,
  use: { pick: JobPick; foreign: boolean },
  fits: (job: ModelJob) => boolean,
): Promise<void> {
  const { id, tenant, job } = target(model, use, fits);
  const answer = await cancelJob(world.db, tenant, id);
  if (!job) return expect(answer).toEqual({ kind: 'missing' });
  if (isTerminal(job.state)) {
    return expect(answer).toEqual({ kind: 'refused', status: job.state });
  }
  if (isOwned(job)) {
    if (!job.cancelRequested) model.change(id, { state: 'cancelling', cancelRequested: true });
  } else {
    const ended = { state: 'cancelled', position: null, runAt: null, waitsFor: null } as const;
    model.change(id, { ...ended, cancelRequested: true });
    if (job.watched) {
      model.ends.set(id, 'cancelled');
      model.resolve();
    }
  }
  expect(answer).toEqual({ kind: 'changed', status: model.job(id).state });
}

export const releaseStep: fc.Arbitrary<Step> = aChange.map((use) =>
  step('release', use, async (model, world) => {
    const { id, tenant, job } = target(model, use, ({ state }) => state === 'created');
    const answer = await releaseJob(world.db, tenant, id);
    if (!job) return expect(answer).toEqual({ kind: 'missing' });
    if (job.state !== 'created') {
      return expect(answer).toEqual({ kind: 'refused', status: job.state });
    }
    const waits = job.runAt !== null && !job.runAt.due;
    if (waits) model.change(id, { state: 'scheduled' });
    else model.change(id, { state: 'queued', position: model.nextPosition() });
    expect(answer).toEqual({ kind: 'changed', status: model.job(id).state });
  }),
);

/** Time passes for one job that waits for it, held or not. */
export const becomesDueStep: fc.Arbitrary<Step> = fc.nat({ max: 99 }).map((n) =>
  step(
    'becomesDue',
    n,
    async (model, world) => {
      const waiting = notDue(model);
      const job = waiting[n % waiting.length];
      if (!job?.runAt) return;
      await world.database.sql(
        `update longshore.waiting set run_at = run_at - make_interval(hours => 24 * $2::int)
         where id = $1`,
        [job.id, LONG_DAYS],
      );
      const { waitMs } = job.runAt;
      const pastMs = waitMs === null ? null : waitMs - LONG_DAYS * 24 * 3_600_000;
      model.change(job.id, { runAt: { waitMs: pastMs, due: true } });
    },
    (model) => notDue(model).length > 0,
  ),
);

export const promoteStep: fc.Arbitrary<Step> = fc
  .constantFrom(1, 2, 1_000, 1_000)
  .map((limit) =>
    step('promote', limit, async (model, world) => await promoteSome(model, world, limit)),
  );

/**
 * The earliest due come first and get the first positions. Jobs that are due at the same moment may
 * come in any order, which is taken from the rows.
 */
async function promoteSome(model: Model, world: World, limit: number): Promise<void> {
  const runAt = ({ id }: ModelJob) => world.row(id).runAt ?? Number.NaN;
  const waiting = [...model.jobs.values()].filter(
    ({ state, runAt: time }) => waitsForTime(state) && time !== null,
  );
  const due = waiting.filter((job) => job.runAt?.due);
  const later = waiting.filter((job) => !job.runAt?.due).map(runAt);
  const { promoted, levels, nextDueMs } = await promote(world.db, 0, limit);
  const after = await readRows(world.db);
  const narrowOf = new Map(after.jobs.map(({ id, narrow }) => [id, narrow]));
  // Of jobs that are due at the same moment, those with a permit were the first of their key.
  const place = ({ id, concurrencyKey }: ModelJob) => {
    const narrow = narrowOf.get(id);
    return Number((concurrencyKey === null ? narrow?.seq : narrow?.['blocked']) ?? 0);
  };
  const moved = due
    .filter(({ id }) => narrowOf.get(id)?.state === 'queued')
    .sort((a, b) => runAt(a) - runAt(b) || place(a) - place(b));
  const left = due.filter((job) => !moved.includes(job)).map(runAt);

  expect(promoted).toBe(Math.min(limit, due.length));
  expect(moved).toHaveLength(promoted);
  const free = moved.filter(({ concurrencyKey }) => concurrencyKey === null);
  expect(free).toEqual(free.toSorted((a, b) => place(a) - place(b)));
  expect(Math.max(...moved.map(runAt))).toBeLessThanOrEqual(Math.min(...left));
  for (const { id, waitsFor, timeouts } of moved) {
    const position = model.nextPosition();
    const late = waitsFor === null ? timeouts : [...timeouts, waitsFor];
    model.change(id, { state: 'queued', waitsFor: null, timeouts: late, position });
  }

  model.passPermits();
  const expected = [...levelsOf(free), ...levelsOf(model.permitted)];
  expect(levels).toHaveLength(expected.length);
  expect(levels).toEqual(expect.arrayContaining(expected));

  const nextMicros = Math.min(...later);
  if (later.length === 0) return expect(nextDueMs).toBeNull();
  expect(nextDueMs).toBeLessThanOrEqual((nextMicros - world.rows.at) / 1_000);
  expect(nextDueMs).toBeGreaterThanOrEqual((nextMicros - after.at) / 1_000);
}

const LONG_AGO = '2020-01-01T00:00:00.000Z';

/** Time is over for one job that has not begun. */
export const expireStep: fc.Arbitrary<Step> = fc.nat({ max: 99 }).map((n) =>
  step(
    'expire',
    n,
    async (model, world) => {
      const waiting = unowned(model);
      const { id = '' } = waiting[n % waiting.length] ?? {};
      const expire = 'update longshore.waiting set expires_at = $2 where id = $1';
      await world.database.sql(expire, [id, LONG_AGO]);
      expect(await expireJobs(world.db, 0, 10)).toMatchObject({ ids: [id], more: false });
      const message = `it had not begun by ${LONG_AGO}, when it expired`;
      const error = { code: 'EXPIRED', message };
      model.change(id, { state: 'failed', position: null, runAt: null, waitsFor: null, error });
    },
    (model) => unowned(model).length > 0,
  ),
);

/** No worker here has any definition: jobs that must fail for that do, in one tenant or in all. */
export const unservedStep: fc.Arbitrary<Step> = fc
  .constantFrom(null, null, ...TENANTS)
  .map((tenant) =>
    step('unserved', tenant, async (model, world) => {
      const scope = { afterMs: 0, tenant, unpublishedAtOnce: false };
      const { db, waker } = world.database;
      const parts = { db, waker, jobLog: new JobLog(silentLog) };
      const ended = [...model.jobs.values()].filter(
        (job) =>
          job.failsUnserved && job.state === 'queued' && (tenant === null || tenant === job.tenant),
      );
      const answer = await failUnserved(parts, 0, scope);
      expect(answer).toEqual({ failed: ended.length, more: false });
      for (const { id, definitionKey } of ended) {
        const message = `no worker that lives has ${definitionKey}, version 1`;
        const error = { code: 'NO_HANDLER', message };
        model.change(id, { state: 'failed', position: null, runAt: null, error });
        world.note('a job that no worker has the code for fails');
      }
    }),
  );

/** A worker comes up with a definition, for the first time or with another number of attempts. */
export const publishStep: fc.Arbitrary<Step> = fc
  .record({ key: fc.constantFrom('x', 'y'), maxAttempts: fc.constantFrom(1, 2, 4) })
  .map((use) =>
    step('publish', use, async (model, world) => {
      await publishDefinitions(world.db, [defineJob({ ...use, run: () => null }).info]);
      model.published.set(use.key, use.maxAttempts);
    }),
  );

function unowned(model: Readonly<Model>): ModelJob[] {
  return [...model.jobs.values()].filter((job) => !isTerminal(job.state) && !isOwned(job));
}

/** The job of a pick; none when it does not exist or belongs to another tenant. */
export function target(
  model: Model,
  { pick, foreign }: { pick: JobPick; foreign: boolean },
  fits: (job: ModelJob) => boolean,
): { id: string; tenant: string; job: ModelJob | null } {
  const { id, job } = findJob(model, pick, fits);
  const owner = job?.tenant ?? 'a';
  const tenant = foreign ? (TENANTS.find((one) => one !== owner) ?? '') : owner;
  return { id, tenant, job: foreign ? null : job };
}

function waitsForTime(state: ModelJob['state']): boolean {
  return state === 'scheduled' || state === 'retrying' || state === 'suspended';
}

function notDue(model: Readonly<Model>): ModelJob[] {
  return [...model.jobs.values()].filter((job) => job.runAt?.due === false);
}
