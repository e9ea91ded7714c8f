import { afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { defineJob } from '../../../src/core/definition/define.ts';
import type { OutcomesView } from '../../../src/core/dependency/outcomes.ts';
import type { Outcome } from '../../../src/core/job/lifecycle.ts';
import { loadOutcomes } from '../../../src/store/edges/load-outcomes.ts';
import { Db } from '../../../src/store/connection/db.ts';
import { readLogs } from '../../../src/store/read/read-logs.ts';
import { claimAny, enqueueOne, failure, newWorker, settleAs } from '../../support/jobs.ts';
import { sharedServer } from '../../support/server-edge.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { apiOn, remoteWorker } from '../../support/servers/remote.ts';
import { jobEnded, scheduling, workerOn } from '../../support/servers/worker.ts';

/** Outcomes of parents and children that are too large together. */

const database = sharedDatabase();
const server = sharedServer(database);
beforeAll(async () => await scheduling(database));
afterEach(() => {
  vi.restoreAllMocks();
});

const CHARS = 100_000;
/** 8 million characters, of which each result also has its quotes, and each error is `null`. */
const FIT = Math.floor(8_000_000 / (CHARS + 2 + 4));

const big = defineJob({ key: 'big', isolation: 'inline', run: () => 'x'.repeat(CHARS) });
const facts = (
  outcomes: readonly { state: string; result: unknown; omitted?: true | undefined }[],
) => outcomes.map(({ state, result, omitted = false }) => [state, result !== null, omitted]);
const parent = defineJob({
  key: 'parent',
  isolation: 'inline',
  run: async ({ count }: { count: number }, ctx) => {
    await ctx.spawnMany(Array.from({ length: count }, () => ({ definition: big })));
    return facts(await ctx.waitForChildren());
  },
});
const after = defineJob({ key: 'after', isolation: 'inline', run: (_, ctx) => facts(ctx.parents) });
const jobs = [big, parent, after];

/**
 * The most bytes of rows that a statement about outcomes has answered with. Not the sum: a worker over HTTP
 * repeats a call whose answer is late, and the API then loads the outcomes again.
 */
function outcomeBytes() {
  const read = { mostBytes: 0, statements: 0 };
  const { run } = Db.prototype;
  vi.spyOn(Db.prototype, 'run').mockImplementation(async function (this: Db, one, values) {
    const rows = await run.call(this, one, values);
    if (one.name.includes('outcomes')) {
      read.mostBytes = Math.max(read.mostBytes, JSON.stringify(rows).length);
      read.statements += 1;
    }
    return rows;
  });
  return read;
}

const expected = (count: number) =>
  Array.from({ length: count }, (_, index) => ['succeeded', index < FIT, index >= FIT]);
const warnings = async (id: string) => {
  const page = await readLogs(database.db, 'default', id, {
    afterId: null,
    attempt: null,
    limit: 10,
  });
  return (page?.logs ?? []).map(({ level, message }) => `${level} ${message}`);
};

describe.each(['a worker', 'a worker over HTTP'])('%s', (which) => {
  const working = async () => {
    if (which === 'a worker') {
      const { worker, stop } = workerOn(database, { jobs });
      await worker.start();
      onTestFinished(stop);
      return;
    }
    const api = await apiOn(database);
    const { worker, stop } = remoteWorker(api.url, { jobs });
    await worker.start();
    onTestFinished(async () => {
      await stop();
      await api.close();
    });
  };

  it('reads no more outcomes of children than fit, and says which are omitted', async () => {
    const read = outcomeBytes();
    await working();
    const count = 300;
    const id = await enqueueOne(database, {
      definitionKey: 'parent',
      paramsJson: JSON.stringify({ count }),
    });
    expect((await jobEnded(database, id)).result).toEqual(expected(count));
    expect(read.mostBytes).toBeGreaterThan(FIT * CHARS);
    expect(read.mostBytes).toBeLessThan(13_000_000);
    expect(await warnings(id)).toEqual([
      expect.stringContaining(
        `warn ${count - FIT} of ${count} outcomes of children are omitted (omitted: true)`,
      ),
    ]);
  });

  it('shows over HTTP which are omitted', async () => {
    await working();
    const paramsJson = JSON.stringify({ count: 90 });
    const id = await enqueueOne(database, { definitionKey: 'parent', paramsJson });
    await jobEnded(database, id);
    const answer = await server.inject({ url: `/v1/jobs/${id}/outcomes` });
    const { children, complete } = answer.json<OutcomesView>();
    expect(complete).toBe(false);
    expect(children[0]?.omitted).toBeUndefined();
    expect(children.at(-1)).toMatchObject({ status: 'succeeded', result: null, omitted: true });
  });

  it('does so for parents', async () => {
    await working();
    const parents: string[] = [];
    for (let n = 0; n < 82; n += 1) {
      parents.push(await enqueueOne(database, { definitionKey: 'big' }));
    }
    const id = await enqueueOne(database, {
      definitionKey: 'after',
      after: { jobs: parents, onFailure: 'run' },
    });
    expect((await jobEnded(database, id)).result).toEqual(expected(parents.length));
    expect(await warnings(id)).toEqual([
      expect.stringContaining(`${82 - FIT} of 82 outcomes of parents are omitted`),
    ]);
  });
});

describe('the loaded outcomes', () => {
  const ended = async (outcomes: readonly Outcome[]) => {
    const worker = await newWorker(database);
    const all: { id: string; state: 'succeeded' | 'failed' }[] = [];
    for (const outcome of outcomes) {
      const id = await enqueueOne(database, { definitionKey: 'one', maxAttempts: 1 });
      const [job] = await claimAny(database, worker, 1);
      if (!job) throw new Error('not claimed');
      await settleAs(database, job, outcome);
      all.push({ id, state: outcome.kind === 'success' ? 'succeeded' : 'failed' });
    }
    return all;
  };
  const success = (value: unknown) =>
    ({ kind: 'success', resultJson: JSON.stringify(value) }) as const;

  it('are the first ones, and none after one that does not fit', async () => {
    const large = 'x'.repeat(600);
    const some = Array.from({ length: 9 }, () => success(null));
    const jobsOf = await ended([
      success(1),
      success(large),
      success(large),
      success(2),
      failure('FAULT', 'y'.repeat(500)),
      ...some,
    ]);
    const [one, two, three, four, five, ...others] = await loadOutcomes(database.db, jobsOf, 1_000);
    expect(one).toMatchObject({ resultJson: '1', error: null });
    expect(two).toMatchObject({ resultJson: JSON.stringify(large) });
    expect([one?.omitted, two?.omitted]).toEqual([undefined, undefined]);
    expect(three).toMatchObject({ state: 'succeeded', resultJson: null, omitted: true });
    expect(four).toMatchObject({ resultJson: null, omitted: true });
    expect(five).toMatchObject({
      state: 'failed',
      error: { code: 'FAULT', message: 'y'.repeat(200), stack: null, cause: null },
      omitted: true,
    });
    // There is nothing to omit.
    expect(others.map(({ omitted }) => omitted)).toEqual(some.map(() => undefined));
  });

  it('are all of many small ones, by few statements', async () => {
    const read = outcomeBytes();
    const jobsOf = await ended(Array.from({ length: 150 }, (_, n) => success(n)));
    const loaded = await loadOutcomes(database.db, jobsOf);
    expect(loaded.map(({ resultJson }) => resultJson)).toEqual(jobsOf.map((_, n) => String(n)));
    expect(read.statements).toBe(4);
  });
});
