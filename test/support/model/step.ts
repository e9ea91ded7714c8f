import type fc from 'fast-check';
import { expect } from 'vitest';
import { cameBack, type Model, type ModelJob, type ModelWorker } from './model.ts';
import { type JobRow, pictureOfJob, pictureOfRow, readRows, type Rows } from './rows.ts';
import type { World } from './world.ts';

export type Step = fc.AsyncCommand<Model, World>;

/**
 * One step of a run. `act` calls the store, compares what it answered with what the model says, and
 * brings the model up to date; then all rows are compared. `ready` says whether there is anything
 * for it to act on; an illegal use is something to act on.
 */
export function step(
  name: string,
  use: unknown,
  act: (model: Model, world: World) => Promise<void>,
  ready: (model: Readonly<Model>) => boolean = () => true,
): Step {
  return {
    check: ready,
    run: async (model, world) => {
      const before = { jobs: new Map(model.jobs), workers: new Map(model.workers) };
      model.beginStep();
      await act(model, world);
      if (model.joined) world.note('the last child moves its parent on');
      model.passPermits();
      model.addHooks(before.jobs);
      model.addEnds(before.jobs);
      const rows = await readRows(world.db);
      compareJobs(model, world, rows, before.jobs);
      compareLines(model, rows);
      compareWorkers(model, world, rows, before.workers);
      compareKeys(model, rows);
      compareLimiters(model, world, rows);
      compareHooks(model, world, rows);
      world.rows = rows;
    },
    toString: () => `${name}(${JSON.stringify(use)})`,
  };
}

function compareJobs(
  model: Model,
  world: World,
  rows: Rows,
  before: ReadonlyMap<string, ModelJob>,
): void {
  expect(rows.jobs.map(({ id }) => id)).toEqual([...model.jobs.keys()].sort());
  const textBefore = new Map(world.rows.jobs.map((row) => [row.id, textOf(row)]));
  for (const row of rows.jobs) {
    const job = model.job(row.id);
    const was = before.get(row.id);
    if (job === was) {
      const [text, old] = [textOf(row), textBefore.get(row.id)];
      // There are many of them, and a matcher takes longer than the comparison.
      if (text !== old) expect(text, 'a job that no step touched').toBe(old);
    } else {
      expect(pictureOfRow(row)).toEqual(pictureOfJob(job, expect.any(Number)));
      if (job.state !== was?.state) world.note(`${was?.state ?? 'new'} -> ${job.state}`);
    }
  }
}

/** Who stands before whom, in each level. */
function compareLines(model: Model, rows: Rows): void {
  const places = new Map<string, number>();
  for (const { id, narrow } of rows.jobs) if (narrow.seq) places.set(id, narrow.seq);
  model.seqs = places;
  const levels = new Map<string, ModelJob[]>();
  for (const { queue, priority } of model.jobs.values()) {
    levels.set(`${queue}:${priority}`, model.level(queue, -priority));
  }
  for (const level of levels.values()) {
    expectInOrder(level, places);
    const others = level.filter((job) => !cameBack(job));
    expectInOrder(
      others.toSorted((a, b) => (a.position ?? 0) - (b.position ?? 0)),
      places,
    );
  }
}

function expectInOrder(level: readonly ModelJob[], places: ReadonlyMap<string, number>): void {
  const seqs = level.map(({ id }) => places.get(id) ?? 0);
  expect(seqs, 'the places in a level').toEqual(seqs.toSorted((a, b) => a - b));
}

/** All but whether it is due, which follows from the rest and the clock. */
function textOf(row: JobRow): string {
  return JSON.stringify({ ...row, due: null });
}

function compareWorkers(
  model: Model,
  world: World,
  rows: Rows,
  before: ReadonlyMap<string, ModelWorker>,
): void {
  expect(rows.workers.map(({ instance }) => instance)).toEqual([...model.workers.keys()].sort());
  const rowsBefore = new Map(world.rows.workers.map((row) => [row.instance, row]));
  for (const row of rows.workers) {
    const worker = model.workers.get(row.instance);
    if (worker === before.get(row.instance)) expect(row).toEqual(rowsBefore.get(row.instance));
    expect((row['dead_at'] ?? null) !== null).toBe(worker?.dead);
    expect((row['draining_at'] ?? null) !== null).toBe(worker?.draining);
    const leaseOver = Date.parse(String(row['lease_until'])) * 1_000 < rows.at;
    expect(leaseOver).toBe(worker?.leaseOver);
  }
}

function compareKeys(model: Model, rows: Rows): void {
  const held = rows.keys.map(({ scope, key, job_id }) => [`${scope}\n${key}`, job_id]);
  expect(new Map(held as [string, string][])).toEqual(
    new Map([...model.keys].map(([key, { id }]) => [key, id])),
  );
}

function compareLimiters(model: Model, world: World, { limiters }: Rows): void {
  const jobs = [...model.jobs.values()];
  const ofKey = (key: string) => {
    const same = jobs.filter(({ concurrencyKey }) => concurrencyKey === key);
    const blocked = same.filter((job) => job.blocked !== null).length;
    if (blocked > 0) world.note('a job waits for the permit of its key');
    return { inUse: same.filter(({ hasPermit }) => hasPermit).length, blocked, tokens: null };
  };
  const expected: Record<string, object> = {
    'definition keyed': { inUse: 0, blocked: 0, tokens: null },
    'definition rated': { inUse: model.ratedInUse(), blocked: 0, tokens: model.tokens },
    p: ofKey('p'),
    q: ofKey('q'),
  };
  // The limiter of a key is made by the first job that needs it.
  const none = { inUse: 0, blocked: 0, tokens: null };
  const found = Object.fromEntries(limiters.map(({ name, ...limiter }) => [name, limiter]));
  expect({ p: none, q: none, ...found }, 'the limiters').toEqual(expected);
  if (model.permitted.length > 0) world.note('a permit goes to a blocked job');
}

/** Each end of a job has made its hooks once, and nothing else has. */
function compareHooks(model: Model, world: World, { hooks }: Rows): void {
  const found = hooks.map(({ body }) => {
    const { hook, jobId, status, attempt } = body['params'] as Record<string, unknown>;
    expect([body['hook'], body['parent_id']]).toEqual([hook, jobId]);
    return { parent: jobId, hook, status, attempt };
  });
  expect(found, 'the hooks').toHaveLength(model.hooks.length);
  expect(found, 'the hooks').toEqual(expect.arrayContaining(model.hooks));
  for (const { hook } of model.hooks) world.note(`the hook ${hook} is made`);
}
