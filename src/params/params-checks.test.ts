import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { systemClock } from '../runtime/clock.ts';
import { compileSchema } from './compile-schema.ts';
import { ParamsChecks } from './params-checks.ts';

const judge = (schema: unknown, params: unknown) =>
  compileSchema(schema)?.(JSON.stringify(params)) ?? 'no judge';

describe('params and the schema of their definition', () => {
  const schema = z.toJSONSchema(
    z.strictObject({
      url: z.url(),
      width: z.int(),
      fit: z.enum(['cover', 'contain']).default('cover'),
      to: z.array(z.object({ 'a/b': z.string() })).optional(),
    }),
    { io: 'input' },
  );

  it.each<[string, unknown, unknown]>([
    ['fit', { url: 'https://a.b', width: 3 }, []],
    ['lack a field', { url: 'x:y' }, [{ pointer: '/width', detail: 'is required' }]],
    ['are of another type', [], [{ pointer: '', detail: 'must be object' }]],
    [
      'have two mistakes',
      { url: 1, width: 0.5 },
      [
        { pointer: '/url', detail: 'must be string' },
        { pointer: '/width', detail: 'must be integer' },
      ],
    ],
    [
      'have a field too much',
      { url: 'x:y', width: 1, fitt: 1 },
      [{ pointer: '/fitt', detail: expect.stringContaining('"fit"') }],
    ],
    [
      'have a word that is none',
      { url: 'x:y', width: 1, fit: 'covr' },
      [{ pointer: '/fit', detail: 'must be one of ["cover","contain"]' }],
    ],
    [
      'are wrong deep inside',
      { url: 'x:y', width: 1, to: [{ 'a/b': 'x' }, {}] },
      [{ pointer: '/to/1/a~1b', detail: 'is required' }],
    ],
  ])('%s', (_, params, found) => {
    expect(judge(schema, params)).toEqual(found);
  });

  it('leave patterns to the check before running: JSON Schema forgets their flags', () => {
    const lost = z.toJSONSchema(z.object({ a: z.string().regex(/^abc$/i) }));
    expect(judge(lost, { a: 'ABC' })).toEqual([]);
    expect(judge(lost, { a: 1 })).toEqual([{ pointer: '/a', detail: 'must be string' }]);
  });
});

describe('a hostile schema', () => {
  const doubled = Object.fromEntries(
    Array.from({ length: 60 }, (_, n) => {
      const next = { $ref: `#/$defs/d${n + 1}` };
      return [`d${n}`, { allOf: [next, next] }];
    }),
  );

  it.each<[string, unknown]>([
    ['is too large', { description: 'x'.repeat(70_000) }],
    ['has patterns as names', { patternProperties: { '^(a+)+$': {} } }],
    ['points to nowhere', { $ref: 'https://example.com/other.json' }],
    ['is no schema', { type: 'nonsense' }],
    ['is no object', true],
  ])('that %s has no judge', (_, schema) => {
    expect(judge(schema, {})).toBe('no judge');
  });

  it('is not slow with a pattern', () => {
    const schema = { properties: { a: { type: 'string', pattern: '^(a+)+$' } } };
    expect(judge(schema, { a: `${'a'.repeat(50)}!` })).toEqual([]);
  });

  it.each<[string, unknown, unknown]>([
    ['that never ends', { $ref: '#' }, {}],
    ['that doubles at each step', { $defs: { ...doubled, d60: {} }, $ref: '#/$defs/d0' }, {}],
    [
      'that compares each with each',
      { uniqueItems: true },
      Array.from({ length: 30_000 }, () => ({})).map((_, n) => [[], n]),
    ],
  ])('%s is given up, and rests', (_, paramsSchema, params) => {
    const checks = new ParamsChecks(systemClock);
    const published = { key: 'a', version: 1, publishedAt: '', paramsSchema };
    const json = JSON.stringify(params);
    for (let n = 0; n < 50; n += 1) expect(checks.violations(published, json)).toEqual([]);
  });
});

it('tries a schema again that took too long, after a rest', () => {
  let nowMs = 0;
  let takesMs = 1_000;
  const checks = new ParamsChecks({ ...systemClock, monotonicMs: () => nowMs });
  const paramsSchema = {
    type: 'string',
    $ref: '#/$defs/any',
    $defs: {
      // A machine that stands still while the schema is read.
      get any() {
        for (const end = Date.now() + takesMs; Date.now() < end;);
        return {};
      },
    },
  };
  const published = { key: 'a', version: 1, publishedAt: '', paramsSchema };
  expect(checks.violations(published, '1')).toEqual([]);
  takesMs = 0;
  nowMs = 59_000;
  expect(checks.violations(published, '1')).toEqual([]);
  nowMs = 60_000;
  expect(checks.violations(published, '1')).toHaveLength(1);
});

describe('the schemas that are known', () => {
  const published = (version: number, publishedAt: string, type: string) => ({
    key: 'a',
    version,
    publishedAt,
    paramsSchema: { type },
  });

  it('are identified by when they were published', () => {
    const checks = new ParamsChecks(systemClock);
    expect(checks.violations(published(1, 'monday', 'string'), '"x"')).toEqual([]);
    expect(checks.violations(published(1, 'tuesday', 'number'), '"x"')).toHaveLength(1);
  });

  it('are forgotten when there are too many, and then made again', () => {
    const checks = new ParamsChecks(systemClock);
    for (let version = 1; version <= 600; version += 1) {
      expect(checks.violations(published(version, '', 'string'), '1')).toHaveLength(1);
    }
    expect(checks.violations(published(1, '', 'string'), '1')).toHaveLength(1);
  });

  it('pass everything that has none', () => {
    const none = { key: 'a', version: 1, publishedAt: '', paramsSchema: null };
    expect(new ParamsChecks(systemClock).violations(none, '1')).toEqual([]);
  });
});
