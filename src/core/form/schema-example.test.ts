import { expect, test } from 'vitest';
import { z } from 'zod';
import { exampleOf } from './schema-example.ts';

test('the first example of a schema', () => {
  const examples = [{ url: 'https://example.com' }, { url: 'https://example.org' }];
  const schema = z.toJSONSchema(z.object({ url: z.url() }).meta({ examples }));
  expect(exampleOf(schema)).toEqual({ url: 'https://example.com' });
});

test.each([null, {}, { examples: [] }, { examples: 'x' }, { examples: [null, {}] }])(
  '%j has none',
  (schema) => expect(exampleOf(schema)).toBeNull(),
);
