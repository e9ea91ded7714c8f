import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { compileSchema } from './compile-schema.ts';

const judge = (schema: z.ZodType, value: unknown) =>
  compileSchema(z.toJSONSchema(z.object({ a: schema }), { io: 'input' }))?.(
    JSON.stringify({ a: value }),
  );

/** What zod accepts must pass here: the job would have accepted it. */
describe('formats at enqueue', () => {
  it.each<[string, z.ZodType, string[], string[]]>([
    ['email', z.email(), ['amy@up.example', "o'neil+a@b.co"], ['amy', 'amy@', '@b.c', 'a@b c']],
    ['html5 email', z.email({ pattern: z.regexes.html5Email }), ['a@localhost'], ['a']],
    ['uri', z.url(), ['https://ä.example/?q=1', 'mailto:a@b.c'], ['no url', '/a']],
    ['uuid', z.uuid(), ['0199f0a1-7c3e-7000-9b1d-5a4f3c2e1400'], ['0199f0a1']],
    ['date', z.iso.date(), ['2030-01-31'], ['31.1.2030', 'tomorrow']],
    [
      'date-time',
      z.iso.datetime({ offset: true }),
      ['2030-01-31T08:00:00Z', '2030-01-31T08:00:00+02:00'],
      ['2030-01-31', 'now'],
    ],
    ['local time', z.iso.datetime({ local: true }), ['2030-01-31T08:00'], []],
    ['ipv4', z.ipv4(), ['127.0.0.1'], ['localhost']],
    ['another one', z.cuid2(), ['anything'], []],
  ])('%s', (_, schema, right, wrong) => {
    for (const value of right) expect([value, judge(schema, value)]).toEqual([value, []]);
    for (const value of wrong) {
      expect([value, judge(schema, value)]).toEqual([
        value,
        [{ pointer: '/a', detail: expect.stringMatching(/^must be an? /) }],
      ]);
    }
  });
});
