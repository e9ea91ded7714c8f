import { expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { defineCommand } from '../core/definition/define-command.ts';
import { defineJob, type JobDefinition, type StandardSchema } from '../core/definition/define.ts';
import type { ChildJob, ChildOutcome } from '../core/dependency/children.ts';
import type { InputOf, JobHandle, JobStarter, Longshore, ResultOf } from './index.ts';

/** What the compiler knows of a definition. Nothing here runs: `npm run types` is the test. */

const resize = defineJob({
  key: 'image.resize',
  params: z.object({ width: z.string().transform(Number), crop: z.boolean().default(false) }),
  run: (params, ctx) => {
    expectTypeOf(params).toEqualTypeOf<{ width: number; crop: boolean }>();
    expectTypeOf(ctx.abortSignal).toEqualTypeOf<AbortSignal>();
    return { bytes: params.width };
  },
});

/** Not of zod's making: a schema is whatever speaks Standard Schema. */
const text: StandardSchema<string, number> = {
  '~standard': { version: 1, vendor: 'here', validate: (value) => ({ value: String(value) }) },
};

test('params of a schema: callers pass its input, run gets its output', () => {
  expectTypeOf<InputOf<typeof resize>>().toEqualTypeOf<{
    width: string;
    crop?: boolean | undefined;
  }>();
  expectTypeOf<ResultOf<typeof resize>>().toEqualTypeOf<{ bytes: number }>();
  const shout = defineJob({ key: 'shout', params: text, run: async (words) => words.at(0) });
  expectTypeOf(shout).toEqualTypeOf<JobDefinition<number, string | undefined>>();
});

test('params without a schema are what run says, and a command takes what its schema does', () => {
  const sum = defineJob({ key: 'sum', run: ({ a }: { a: number }) => a });
  expectTypeOf(sum).toEqualTypeOf<JobDefinition<{ a: number }, number>>();
  const count = defineCommand({ key: 'count', command: ['wc'], params: z.string() });
  expectTypeOf<InputOf<typeof count>>().toEqualTypeOf<string>();
});

test('steps have the type of what they return', () => {
  defineJob({
    key: 'steps',
    run: async (_, ctx) => {
      expectTypeOf(await ctx.step('n', () => 1)).toEqualTypeOf<number>();
      expectTypeOf(await ctx.step('s', async () => 'a')).toEqualTypeOf<string>();
    },
  });
});

test('children are held to their definitions, and have the types of their results', () => {
  defineJob({
    key: 'parent',
    run: async (_, ctx) => {
      const child = await ctx.spawn(resize, { width: '3' }, { name: 'small' });
      expectTypeOf(child).toEqualTypeOf<ChildJob<{ bytes: number }>>();
      expectTypeOf(await ctx.spawn('by-key', 1)).toEqualTypeOf<ChildJob>();
      // @ts-expect-error Callers pass the input of the schema, which is a text.
      await ctx.spawn(resize, { width: 3 });
      const [first, second] = await ctx.spawnMany([
        { definition: resize, params: { width: '1' }, options: { name: 'first' } },
        { definition: 'by-key', params: 5 },
      ]);
      expectTypeOf(first).toEqualTypeOf<ChildJob<{ bytes: number }>>();
      expectTypeOf(second).toEqualTypeOf<ChildJob>();
      const many = ['1', '2'].map((width) => ({ definition: resize, params: { width } }));
      expectTypeOf(await ctx.spawnMany(many)).toEqualTypeOf<ChildJob<{ bytes: number }>[]>();
      // @ts-expect-error Each entry is held to its own definition.
      await ctx.spawnMany([{ definition: resize, params: { width: 1 } }]);
      // @ts-expect-error There is no such option.
      await ctx.spawnMany([{ definition: resize, params: { width: '1' }, options: { after: [] } }]);
      const outcomes = await ctx.waitForChildren<{ bytes: number }>();
      expectTypeOf(outcomes).toEqualTypeOf<ChildOutcome<{ bytes: number }>[]>();
      expectTypeOf(
        outcomes.map(({ name, result }) => [name, result?.bytes] as const),
      ).toEqualTypeOf<(readonly [string, number | undefined])[]>();
      const [unknown] = await ctx.waitForChildren();
      expectTypeOf(unknown?.result).toEqualTypeOf<unknown>();
    },
  });
});

test('a JobStarter checks jobs against their definitions', () => {
  const check = async (jobs: JobStarter) => {
    const handle = await jobs.enqueue(resize, { width: '3' }, { priority: 1 });
    expectTypeOf(handle).toEqualTypeOf<JobHandle<{ bytes: number }>>();
    expectTypeOf((await handle.wait()).result).toEqualTypeOf<{ bytes: number } | null>();
    expectTypeOf(await handle.result()).toEqualTypeOf<{ bytes: number }>();
    expectTypeOf(await jobs.enqueue('by-key', 1)).toEqualTypeOf<JobHandle>();
    // @ts-expect-error Callers pass the input of the schema, which is a text.
    await jobs.enqueue(resize, { width: 3 });
    // @ts-expect-error There is no such option.
    await jobs.enqueue(resize, { width: '3' }, { prioritty: 1 });

    const [first, second] = await jobs.enqueueMany([
      { definition: resize, params: { width: '1' } },
      { definition: 'by-key', params: 5, options: { tags: ['a'] } },
    ]);
    expectTypeOf(first).toEqualTypeOf<JobHandle<{ bytes: number }>>();
    expectTypeOf(second).toEqualTypeOf<JobHandle>();
    const many = ['1', '2'].map((width) => ({ definition: resize, params: { width } }));
    expectTypeOf(await jobs.enqueueMany(many)).toEqualTypeOf<JobHandle<{ bytes: number }>[]>();
    // @ts-expect-error Each entry is held to its own definition.
    await jobs.enqueueMany([{ definition: resize, params: { width: 1 } }]);
  };
  expectTypeOf(check).returns.toEqualTypeOf<Promise<void>>();
});

test('a batch and its callbacks are held to their definitions', () => {
  const check = async (client: Longshore) => {
    const right = { definition: resize, params: { width: '1' } };
    const batch = await client.batch([right, { definition: 'by-key', params: 5 }], {
      onComplete: right,
      onSuccess: { definition: 'by-key', params: [] },
    });
    await batch.add([right]);
    await client.batch([], { open: true });
    await client.batch(['1', '2'].map((width) => ({ definition: resize, params: { width } })));
    // @ts-expect-error Callers pass the input of the schema, which is a text.
    await client.batch([{ definition: resize, params: { width: 1 } }]);
    // @ts-expect-error Likewise for the callbacks, each with its own definition.
    await client.batch([], { onComplete: { definition: resize, params: { width: 1 } } });
    // @ts-expect-error Likewise.
    await client.batch([], { onSuccess: { definition: resize, params: { width: 1 } } });
    // @ts-expect-error Likewise for jobs that are added.
    await batch.add([{ definition: resize, params: { width: 1 } }]);
    // @ts-expect-error There is no such option.
    await client.batch([], { onSucces: right });
  };
  expectTypeOf(check).toBeFunction();
});

test('the params of a schedule are held to its definition', () => {
  const check = async (client: Longshore) => {
    await client.schedules.create(resize, '@daily', { params: { width: '1' } });
    await client.schedules.create('by-key', '@daily', { params: 5 });
    // @ts-expect-error Callers pass the input of the schema, which is a text.
    await client.schedules.create(resize, '@daily', { params: { width: 1 } });
  };
  expectTypeOf(check).toBeFunction();
});

test('a definition can be imported as a type alone', () => {
  const check = async (jobs: JobStarter) => {
    const handle = await jobs.enqueue<InputOf<typeof resize>, ResultOf<typeof resize>>(
      { key: 'image.resize' },
      { width: '3' },
    );
    expectTypeOf(handle).toEqualTypeOf<JobHandle<{ bytes: number }>>();
  };
  expectTypeOf(check).toBeFunction();
});
