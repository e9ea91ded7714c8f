import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { TOOLS } from './all.ts';

const PAGE = readFileSync(new URL('../../../docs/operate/mcp.md', import.meta.url), 'utf8');

test('docs/operate/mcp.md lists each tool with its scope', () => {
  const rows = [...PAGE.matchAll(/^\| (`\w+`(?:, `\w+`)*) \| .* \| `([\w:]+)` \|$/gm)];
  const listed = rows.flatMap(([, names = '', scope]) =>
    [...names.matchAll(/\w+/g)].map(([name]) => [name, scope]),
  );
  expect(listed).toEqual(TOOLS.map(({ name, scope }) => [name, scope]));
});

test.each(TOOLS.map((tool) => [tool.name, tool] as const))('%s can be described', (_, tool) => {
  expect(tool.name).toMatch(/^[a-z_]{1,30}$/);
  expect(tool.description.length).toBeLessThan(500);
  const schema = z.toJSONSchema(tool.input, { io: 'input' });
  expect(schema).toMatchObject({ type: 'object', additionalProperties: false });
  const fields = Object.entries(schema.properties ?? {});
  const silent = fields.filter(([, one]) => typeof one === 'boolean' || !one.description);
  expect(silent.map(([name]) => name)).toEqual([]);
});
