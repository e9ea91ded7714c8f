import { expect, test } from 'vitest';
import type { PublishedDefinition } from '../client/index.ts';
import { OFFERS_MAX, offeredTools } from './offered.ts';

const definition = (key: string, changes: Partial<PublishedDefinition> = {}) =>
  ({
    key,
    version: 1,
    owner: null,
    description: null,
    paramsSchema: null,
    ...changes,
  }) as PublishedDefinition;
const offer = (...definitions: PublishedDefinition[]) =>
  offeredTools(definitions, () => true, 30_000);
const schemaOf = (paramsSchema: unknown) => offer(definition('a', { paramsSchema }))[0]?.schema;

test('names have letters, digits and underscores only, and differ', () => {
  const long = `a.${'b'.repeat(100)}`;
  const names = offer(
    definition('report.total'),
    definition('report/total'),
    definition(long),
    definition(`${long}c`),
  ).map(({ name }) => name);
  expect(names).toContain('run_report_total');
  expect(new Set(names).size).toBe(4);
  expect(names.filter((name) => !/^[A-Za-z0-9_]{1,44}$/.test(name))).toEqual([]);
});

test('the newest version is offered, and not too many', () => {
  const tools = offer(
    definition('a', { version: 2, description: 'new' }),
    definition('a', { description: 'old' }),
  );
  expect(tools.map(({ description }) => description)).toEqual([expect.stringContaining(' new')]);
  const many = Array.from({ length: OFFERS_MAX + 5 }, (_, at) => definition(`d${at}`));
  expect(offer(...many)).toHaveLength(OFFERS_MAX);
});

test('an object is the arguments, anything else is their only field', () => {
  const object = { type: 'object', properties: { a: { $ref: '#/$defs/a' } }, $defs: { a: {} } };
  expect(schemaOf(object)).toBe(object);
  const list = { type: 'array', items: { type: 'number' } };
  expect(schemaOf(list)).toMatchObject({ properties: { params: list }, required: ['params'] });
  const any = { params: { description: 'The params of the job, as JSON.' } };
  expect(schemaOf(null)).toMatchObject({ type: 'object', properties: any });
  expect(schemaOf({ $ref: '#/$defs/a', $defs: {} })).toMatchObject({ properties: any });
  const huge = { type: 'object', description: 'x'.repeat(30_000) };
  expect(schemaOf(huge)).toMatchObject({ properties: any });
});
