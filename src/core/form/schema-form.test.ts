import { expect, test } from 'vitest';
import { z } from 'zod';
import { fieldsOf, holdsWhole, paramsOf, skeletonOf, typedOf } from './schema-form.ts';

/** As workers publish it: what zod makes of a definition's params. */
const schema = z.toJSONSchema(
  z.object({
    email: z.email().describe('Who gets it.'),
    copies: z.int().min(1).max(5).default(2),
    language: z.enum(['en', 'de']).optional(),
    draft: z.boolean().optional(),
    tags: z.array(z.string()).optional(),
    customer: z.object({ 'a/b': z.string(), age: z.number().optional() }),
  }),
);
const fields = fieldsOf(schema) ?? [];

test('a schema becomes fields', () => {
  expect(fields.map(({ pointer, kind, required }) => [pointer, kind, required])).toEqual([
    ['/email', 'text', true],
    ['/copies', 'number', false],
    ['/language', 'choice', false],
    ['/draft', 'boolean', false],
    ['/tags', 'json', false],
    ['/customer/a~1b', 'text', true],
    ['/customer/age', 'number', false],
  ]);
  expect(fields[0]?.about).toBe('Who gets it. · email');
  expect(fields[1]).toMatchObject({ about: 'whole number · 1 to 5', initial: '2' });
  expect(fields[5]?.label).toBe('customer.a/b');
  const optional = fieldsOf(
    z.toJSONSchema(z.object({ to: z.object({ a: z.string() }).optional() })),
  );
  expect(optional).toMatchObject([{ pointer: '/to/a', required: false }]);
});

test('what was typed becomes params, and params what was typed', () => {
  const typed = {
    '/email': 'a@b.c',
    '/copies': '3',
    '/draft': 'true',
    '/tags': '["x"]',
    '/customer/a~1b': 'c',
    '/language': '',
  };
  const params = { email: 'a@b.c', copies: 3, draft: true, tags: ['x'], customer: { 'a/b': 'c' } };
  expect(paramsOf(fields, typed)).toEqual({ params });
  expect(typedOf(fields, params)).toEqual({
    '/email': 'a@b.c',
    '/copies': '3',
    '/draft': 'true',
    '/tags': '["x"]',
    '/customer/a~1b': 'c',
  });
});

test('what cannot be read is reported with its pointer', () => {
  expect(paramsOf(fields, { '/copies': 'x' })).toEqual({
    pointer: '/copies',
    wrong: 'must be a number',
  });
  expect(paramsOf(fields, { '/tags': '[' })).toMatchObject({ pointer: '/tags' });
});

test('names that mean something to JavaScript mean nothing here', () => {
  const odd = fieldsOf({
    type: 'object',
    properties: JSON.parse('{"__proto__":{"type":"string"}}'),
  });
  const read = paramsOf(odd ?? [], { '/__proto__': 'x' });
  expect(JSON.stringify(read)).toBe('{"params":{"__proto__":"x"}}');
  expect(typedOf(odd ?? [], {})).toEqual({});
});

test.each([null, {}, { type: 'string' }, { type: 'object' }, { anyOf: [] }])(
  '%j is better written as JSON',
  (other) => expect(fieldsOf(other)).toBeNull(),
);

test('a field that takes a text or a list needs no quotes', () => {
  const to = z.union([z.string(), z.array(z.string())]);
  const mixed = fieldsOf(z.toJSONSchema(z.object({ to }))) ?? [];
  for (const value of ['ada@example.com', '17', ['a', 'b']]) {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    expect(typedOf(mixed, { to: value })).toEqual({ '/to': text });
    expect(paramsOf(mixed, { '/to': text })).toEqual({ params: { to: value } });
  }
  expect(paramsOf(mixed, { '/to': '[' })).toMatchObject({ pointer: '/to' });
  const id = fieldsOf(z.toJSONSchema(z.object({ id: z.union([z.string(), z.number()]) })));
  expect(id?.[0]?.kind).toBe('json');
});

test('what must be there has a place to fill in', () => {
  expect(skeletonOf(schema)).toEqual({ email: '…', customer: { 'a/b': '…' } });
  expect(skeletonOf(null)).toBeNull();
  expect(skeletonOf({ ...schema, examples: [{ email: 'a@b.c' }] })).toEqual({ email: 'a@b.c' });
});

test('params that the fields do not hold whole are edited as JSON', () => {
  const fields = fieldsOf(schema) ?? [];
  expect(holdsWhole(fields, { email: 'a@b.c', customer: { 'a/b': 'x' } })).toBe(true);
  expect(holdsWhole(fields, { customer: { 'a/b': 'x' }, email: 'a@b.c' })).toBe(true);
  for (const params of [{ email: 'a@b.c', more: 1 }, { email: '' }, { email: 5 }, [1], null]) {
    expect(holdsWhole(fields, params)).toBe(false);
  }
});
