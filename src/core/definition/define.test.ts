import { describe, expect, expectTypeOf, it, test } from 'vitest';
import { z } from 'zod';
import { defineJob, isJobDefinition, type JobContext, type JobDefinition } from './define.ts';
import { NonRetryable, RetryAfter, type StandardSchema } from './define.ts';
import { DefinitionError } from './definition.ts';

const run = () => null;
/** JavaScript callers can pass anything, so the refusals are tested past the type checker. */
const define = (options: object): JobDefinition => defineJob(options as never);

describe('types', () => {
  // Its output differs from its input, so that mistaking one for the other cannot pass.
  const params = z.object({
    at: z.string().transform((text) => new Date(text)),
    n: z.int().default(1),
  });

  it('of a schema reach run as its output, and callers as its input', () => {
    const job = defineJob({
      key: 'typed',
      params,
      run(given, ctx) {
        expectTypeOf(given).toEqualTypeOf<{ at: Date; n: number }>();
        expectTypeOf(ctx).toEqualTypeOf<JobContext>();
        return { bytes: given.n };
      },
    });
    type Input = { at: string; n?: number | undefined };
    expectTypeOf(job).toEqualTypeOf<JobDefinition<Input, { bytes: number }>>();
  });

  it('of params without a schema are those that run declares', () => {
    const job = defineJob({
      key: 'plain',
      run: async (given: { url: string }) => given.url.length,
    });
    expectTypeOf(job).toEqualTypeOf<JobDefinition<{ url: string }, number>>();
  });

  it('refuse what cannot be', () => {
    // @ts-expect-error The key is missing.
    expect(() => defineJob({ run })).toThrow(DefinitionError);
    // @ts-expect-error There is no such preset.
    expect(() => defineJob({ key: 'a', retry: 'webhooks', run })).toThrow(DefinitionError);
    // @ts-expect-error The schema gives run a Date, not a number.
    defineJob({ key: 'a', params, run: (given: { at: number }) => given.at });
  });
});

describe('a definition', () => {
  it('carries its name, its policy and its code', () => {
    const job = define({ key: 'image.resize', version: 2, owner: 'media', maxAttempts: 5, run });
    expect(job).toMatchObject({ key: 'image.resize', version: 2, schema: null });
    expect(job.info).toMatchObject({ owner: 'media', maxAttempts: 5, paramsSchema: null });
    expect(job.run).toBe(run);
  });

  it('tells which hooks it has, and nothing of their code', () => {
    const onEnd = () => undefined;
    const job = define({ key: 'a', run, onEnd, onFail: undefined });
    expect(job.info.hooks).toEqual(['onEnd']);
    expect(job.hooks).toEqual({ onEnd });
    expect(() => define({ key: 'a', run, onEnd: 5 })).toThrow('a: onEnd must be a function');
    expect(() => define({ key: 'a', run, onError: run })).toThrow('unknown option of defineJob');
  });

  it('is frozen and known by its brand, also across copies of this module', () => {
    const job = define({ key: 'a', run });
    expect([Object.isFrozen(job), Object.isFrozen(job.info)]).toEqual([true, true]);
    expect(isJobDefinition(job)).toBe(true);
    expect(Object.getOwnPropertySymbols(job)).toEqual([Symbol.for('longshore.definition')]);
    const shape = ['paramsShape'];
    const code = ['info', 'schema', 'run', 'hooks', 'upgrades'];
    expect(Object.keys(job)).toEqual(['key', 'version', ...shape, ...code]);
  });

  it.each([null, undefined, 'a', {}, { key: 'a', version: 1, run }, run])(
    'is not what merely looks like one: %j',
    (value) => expect(isJobDefinition(value)).toBe(false),
  );

  it('publishes the JSON Schema of what callers may pass, when its schema can tell', () => {
    const job = defineJob({
      key: 'a',
      params: z.object({ url: z.url(), n: z.int().default(1) }),
      run,
    });
    expect(job.info.paramsSchema).toMatchObject({
      type: 'object',
      properties: { url: { type: 'string', format: 'uri' }, n: { type: 'integer', default: 1 } },
      required: ['url'],
    });
    expect(() => JSON.stringify(job.info)).not.toThrow();
  });

  const validate = (value: unknown) => ({ value });
  const noJsonSchema = () => {
    throw new Error('has no JSON Schema');
  };
  it.each<[string, StandardSchema['~standard']]>([
    ['does not know JSON Schema', { version: 1, vendor: 'x', validate }],
    ['cannot tell', { version: 1, vendor: 'x', validate, jsonSchema: { input: noJsonSchema } }],
  ])('publishes none when its schema %s', (_, standard) => {
    const params = { '~standard': standard };
    const job = defineJob({ key: 'a', params, run });
    expect(job.info.paramsSchema).toBeNull();
    expect(job.schema).toBe(params);
  });
});

test.each([
  [
    { key: 'a', run, maxAttempt: 3 },
    'option of defineJob "maxAttempt": did you mean "maxAttempts"?',
  ],
  [{ key: 'a', run, timeout: 3 }, 'unknown option of defineJob "timeout"'],
  [{ key: 'a', run, handler: run }, 'unknown option of defineJob "handler"'],
  [{ key: 'a' }, 'a: run must be a function'],
  [{ key: 'a', run: 'run' }, 'a: run must be a function'],
  [{ run }, 'key must be 1 to 200'],
  [{ key: 'a', run, params: {} }, 'a: params must be a Standard Schema'],
  [{ key: 'a', run, params: 'x' }, 'a: params must be a Standard Schema'],
  [{ key: 'a', run, maxAttempts: 0 }, 'a: maxAttempts must be a whole number from 1 to 1000'],
])('%j is refused: %s', (options, words) => {
  expect(() => define(options)).toThrow(DefinitionError);
  expect(() => define(options)).toThrow(words);
});

test('our errors carry what they say, and a cause', () => {
  const cause = new Error('inner');
  expect(new NonRetryable('no', { cause })).toMatchObject({
    name: 'NonRetryable',
    message: 'no',
    cause,
  });
  expect(new RetryAfter(5)).toMatchObject({ delayMs: 5, message: 'asked to try again in 5 ms' });
  expect(new RetryAfter(5, 'busy')).toMatchObject({ name: 'RetryAfter', message: 'busy' });
});
