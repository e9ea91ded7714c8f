import { expect, it } from 'vitest';
import { definitionInfo } from '../definition/check-definition.ts';
import type { DefinitionPolicy } from '../definition/definition.ts';
import { difference } from './difference.ts';

const info = (policy: DefinitionPolicy, paramsSchema: unknown = null) =>
  definitionInfo(policy, { paramsSchema });

it('says for each definition what changes, and in which fields', () => {
  const before = [
    info({ key: 'kept', version: 3 }),
    info({ key: 'gone' }),
    info({ key: 'slow', timeoutSeconds: 10 }, { type: 'object', required: ['a'] }),
  ];
  const after = [
    info({ key: 'slow', timeoutSeconds: 20 }, { type: 'object', required: ['a', 'b'] }),
    info({ key: 'kept', version: 4 }),
    info({ key: 'new' }),
  ];
  expect(difference(before, after)).toEqual([
    { key: 'gone', change: 'removed', fields: [] },
    { key: 'kept', change: 'unchanged', fields: [] },
    { key: 'new', change: 'added', fields: [] },
    { key: 'slow', change: 'changed', fields: ['params', 'timeoutSeconds'] },
  ]);
});

it('does not mind the order of fields', () => {
  const schema = (value: object) => info({ key: 'a' }, value);
  const [only] = difference([schema({ x: 1, y: 2 })], [schema({ y: 2, x: 1 })]);
  expect(only?.change).toBe('unchanged');
});
