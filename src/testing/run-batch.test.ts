import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineBatchJob } from '../core/definition/define-batch.ts';
import {
  defineJob,
  type JobDefinition,
  NonRetryable,
  RetryAfter,
} from '../core/definition/define.ts';
import { runBatch } from './run-batch.ts';
import { runJob } from './run-job.ts';

const policy = { size: 10, retry: { baseMs: 1_000, jitter: 0 } };

describe('a group', () => {
  it('gives each item its own result, log, steps and events', async () => {
    const calls: number[] = [];
    const double = defineBatchJob({
      ...policy,
      key: 'double',
      params: z.object({ n: z.number() }),
      async run(items, ctx) {
        calls.push(items.length);
        ctx.logger.info('all');
        const results: number[] = [];
        for (const item of items) {
          item.logger.info('item %d', item.params.n);
          item.progress(1);
          await item.emitEvent('seen', item.params.n);
          results.push(await item.step('double', () => item.params.n * 2));
        }
        return results;
      },
    });
    const runs = await runBatch(double, [{ n: 1 }, { n: 2 }, { n: 3 }]);
    expect(calls).toEqual([3]);
    expect(runs.map(({ status, result }) => [status, result])).toEqual([
      ['succeeded', 2],
      ['succeeded', 4],
      ['succeeded', 6],
    ]);
    expect(runs.map(({ steps }) => steps)).toEqual([{ double: 2 }, { double: 4 }, { double: 6 }]);
    expect(runs.map(({ logs }) => logs.map(({ message }) => message))).toEqual([
      ['all', 'item 1'],
      ['item 2'],
      ['item 3'],
    ]);
    expect(runs[2]?.events).toEqual([{ type: 'seen', payload: 3 }]);
  });

  it('fails single items, by the error of each', async () => {
    const picky = defineBatchJob({
      ...policy,
      key: 'picky',
      params: z.object({ n: z.number() }),
      run: (items) =>
        items.map((item) => {
          if (item.params.n === 1) return item.fail(new Error('odd'));
          if (item.params.n === 2) return item.fail(new NonRetryable('never'));
          if (item.params.n === 3) return item.fail(new RetryAfter(7_000));
          return item.jobId;
        }),
    });
    const params = [{ n: 0 }, { n: 1 }, { n: 2 }, { n: 3 }, { n: 'no' } as never];
    const runs = await runBatch(picky, params);
    expect(runs.map(({ status, error, nextInMs }) => [status, error?.code, nextInMs])).toEqual([
      ['succeeded', undefined, null],
      ['retrying', 'HANDLER_ERROR', 1_000],
      ['failed', 'NON_RETRYABLE', null],
      ['retrying', 'RATE_LIMITED', 7_000],
      ['failed', 'PAYLOAD_INVALID', null],
    ]);
  });

  it('fails all items when it throws, or does not answer for each', async () => {
    const throwing = defineBatchJob({
      ...policy,
      key: 'throwing',
      run: () => {
        throw new Error('down');
      },
    });
    const silent = defineBatchJob({ ...policy, key: 'silent', run: () => [1] });
    const wrong = defineBatchJob({ ...policy, key: 'wrong', run: (() => null) as never });
    const errors = async (definition: JobDefinition) =>
      (await runBatch(definition, [{}, {}])).map(({ error }) => `${error?.code} ${error?.message}`);
    expect(await errors(throwing)).toEqual(Array(2).fill('HANDLER_ERROR down'));
    const must = 'it must return a list with one result for each item, in their order';
    expect(await errors(silent)).toEqual(
      Array(2).fill(`RESULT_INVALID run returned 1 results for 2 items: ${must}`),
    );
    expect(await errors(wrong)).toEqual(
      Array(2).fill(`RESULT_INVALID run returned no list for 2 items: ${must}`),
    );
  });

  it('tells a cancelled item, and goes on with the others', async () => {
    const cancel = new AbortController();
    let all: boolean | undefined;
    const patient = defineBatchJob({
      ...policy,
      key: 'patient',
      async run(items, ctx) {
        const [first] = items;
        setTimeout(() => cancel.abort());
        await new Promise((resolve) => first?.abortSignal.addEventListener('abort', resolve));
        all = ctx.abortSignal.aborted;
        return items.map((item) => (item.abortSignal.aborted ? item.fail('stopped') : 'done'));
      },
    });
    const runs = await runBatch(patient, [{}, {}], (index) =>
      index === 0 ? { signal: cancel.signal } : {},
    );
    expect(runs.map(({ status }) => status)).toEqual(['cancelled', 'succeeded']);
    expect(all).toBe(false);
  });

  it('upgrades the params of each item', async () => {
    const evolved = defineBatchJob({
      ...policy,
      key: 'evolved',
      upgrade: { 2: (old: { a: number }) => ({ b: old.a }) },
      run: (items) => items.map(({ params }) => params),
    });
    const runs = await runBatch(evolved, [{ a: 1 }, { b: 2 }], (index) => ({
      paramsShape: index + 1,
    }));
    expect(runs.map(({ result }) => result)).toEqual([{ b: 1 }, { b: 2 }]);
  });
});

it('says which of the two functions runs a definition', async () => {
  const group = defineBatchJob({ key: 'g', size: 2, run: () => [] });
  const single = defineJob({ key: 's', run: () => null });
  await expect(runJob(group, {})).rejects.toThrow('the jobs of g run in groups: use runBatch');
  await expect(runBatch(single, [{}])).rejects.toThrow(
    's is not made by defineBatchJob: use runJob',
  );
  await expect(runBatch(group, [])).rejects.toThrow('a group has at least one job');
});
