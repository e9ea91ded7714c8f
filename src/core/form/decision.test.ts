import { expect, it } from 'vitest';
import { z } from 'zod';
import { decisionOf } from './decision.ts';
import { fieldsOf } from './schema-form.ts';

const decision = (schema: z.ZodType) => decisionOf(fieldsOf(z.toJSONSchema(schema)) ?? [])?.pointer;

it('is the one boolean whose name is a decision', () => {
  const note = z.string().optional();
  expect(decision(z.object({ approved: z.boolean(), note }))).toBe('/approved');
  expect(decision(z.object({ ok: z.boolean() }))).toBe('/ok');
  expect(decision(z.object({ urgent: z.boolean() }))).toBeUndefined();
  expect(decision(z.object({ ok: z.string() }))).toBeUndefined();
  expect(decision(z.object({ ok: z.boolean(), accept: z.boolean() }))).toBeUndefined();
});
