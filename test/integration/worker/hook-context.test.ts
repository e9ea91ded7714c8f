import { expect, it, onTestFinished } from 'vitest';
import {
  defineJob,
  type HookContext,
  type JobDefinition,
} from '../../../src/core/definition/define.ts';
import { promote } from '../../../src/store/claim/promote.ts';
import { readEvents } from '../../../src/store/read/read-events.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { enqueueOne } from '../../support/jobs.ts';
import { until } from '../../support/until.ts';
import { workerOn } from '../../support/servers/worker.ts';

/** A hook may use all that its job may. */
const database = sharedDatabase();

async function start(...jobs: unknown[]): Promise<void> {
  const { worker, stop } = workerOn(database, { jobs: jobs as JobDefinition[] });
  onTestFinished(stop);
  await worker.start();
}

const page = async (id: string) =>
  await readEvents(database.db, 'default', id, { afterId: null, limit: 500 });

/** The history of a job, once it and its hooks have ended. */
async function history(id: string): Promise<string[]> {
  await until('all has ended', async () => {
    // No scheduler runs here.
    await promote(database.db, 0, 10);
    return (await page(id))?.ended === true;
  });
  return ((await page(id))?.events ?? []).map(({ type, payload }) => {
    const { hook, type: name } = (payload ?? {}) as { hook?: string; type?: string };
    return [type, hook, name].flatMap((word) => word ?? []).join(' ');
  });
}

const emits = (type: string) => async (ctx: HookContext) => {
  const sent: Promise<void> = ctx.emitEvent(type, { jobId: ctx.jobId });
  expect(await sent).toBeUndefined();
};
const inline = { isolation: 'inline', retry: { baseMs: 1 } } as const;
const hooks = {
  onStart: emits('begun'),
  onSuccess: emits('well'),
  onFail: emits('badly'),
  onEnd: emits('over'),
};

it('emits events, which are in the history of the job', async () => {
  await start(
    defineJob({
      key: 'good',
      ...inline,
      ...hooks,
      run: async (_, ctx) => await ctx.emitEvent('ran'),
    }),
    defineJob({
      key: 'bad',
      ...inline,
      ...hooks,
      maxAttempts: 1,
      run: () => {
        throw new Error('no');
      },
    }),
  );
  const [good, bad] = [
    await enqueueOne(database, { definitionKey: 'good' }),
    await enqueueOne(database, { definitionKey: 'bad' }),
  ];
  expect(await history(good)).toEqual([
    'created',
    'queued',
    'started',
    'custom begun',
    'custom ran',
    'succeeded',
    'custom onSuccess well',
    'hook onSuccess',
    'custom onEnd over',
    'hook onEnd',
  ]);
  expect(await history(bad)).toEqual([
    'created',
    'queued',
    'started',
    'custom begun',
    'failed',
    'custom onFail badly',
    'hook onFail',
    'custom onEnd over',
    'hook onEnd',
  ]);
  const events = (await page(bad))?.events ?? [];
  const payloads = events.flatMap(({ type, payload }) => (type === 'custom' ? [payload] : []));
  expect(payloads).toMatchObject(payloads.map(() => ({ payload: { jobId: bad } })));
});

it('has steps, a checkpoint, progress and a snooze of its own', async () => {
  let runs = 0;
  const seen: unknown[] = [];
  await start(
    defineJob({
      key: 'all',
      ...inline,
      run: async (_, ctx) => await ctx.step('once', () => 'by the job'),
      async onEnd(ctx) {
        runs += 1;
        ctx.progress(0.5, 'half way');
        seen.push(ctx.lastCheckpoint ?? null, await ctx.step('once', () => `in run ${runs}`));
        await ctx.checkpoint(runs);
        if (runs === 1) throw new Error('once more');
        if (runs === 2) ctx.snooze(1);
      },
    }),
  );
  const id = await enqueueOne(database, { definitionKey: 'all' });
  const events = await history(id);
  expect(events.at(-1)).toBe('hook onEnd');
  expect(runs).toBe(3);
  expect(seen).toEqual([null, 'in run 1', 1, 'in run 1', 2, 'in run 1']);
});

it('can put off an attempt by onStart, in the context of its job', async () => {
  const seen: unknown[] = [];
  await start(
    defineJob({
      key: 'put-off',
      ...inline,
      async onStart(ctx) {
        seen.push([ctx.attempt, ctx.lastCheckpoint ?? null]);
        if (ctx.lastCheckpoint !== undefined) return;
        await ctx.checkpoint('waited');
        expect(ctx.lastCheckpoint).toBe('waited');
        ctx.snooze(1);
      },
      run: (_, ctx) => void seen.push(['ran', ctx.attempt]),
    }),
  );
  const id = await enqueueOne(database, { definitionKey: 'put-off' });
  expect(await history(id)).toContain('snoozed');
  expect(seen).toEqual([
    [1, null],
    [1, 'waited'],
    ['ran', 1],
  ]);
});
