import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readParams } from './params-argument.ts';
import { UsageError } from './usage-error.ts';

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'longshore-params-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

const nothing = Readable.from([]);

test('left out', async () => {
  expect(await readParams(undefined, nothing)).toBeUndefined();
});

test.each(['{"a":[1]}', '"text"', '17', 'null', 'false'])('inline %s', async (json) => {
  expect(await readParams(json, nothing)).toEqual(JSON.parse(json));
});

test('from a file, with the mark that some editors put before it', async () => {
  const path = join(directory, 'params.json');
  writeFileSync(path, '\uFEFF{ "name": "Ada" }\n');
  expect(await readParams(`@${path}`, nothing)).toEqual({ name: 'Ada' });
});

test('from stdin, in pieces', async () => {
  const pieces = [Buffer.from('{"name":"J\xc3', 'latin1'), Buffer.from('\xb6rg"}', 'latin1')];
  expect(await readParams('-', Readable.from(pieces))).toEqual({ name: 'Jörg' });
});

test.each([
  ['{name:1}', /^the params are not JSON: .*Quote them/],
  ['', /^the params are not JSON/],
  ['to=Ada', /^the params are one argument, as JSON: '\{"to":"Ada"\}'$/],
  ['1234567890123456789', /^the number 1234567890123456789 would be rounded: send it as text$/],
  ['-', /^stdin is not JSON/],
  ['@/nowhere/params.json', /^cannot read the params: ENOENT/],
])('%j is refused', async (argument, message) => {
  const reading = readParams(argument, Readable.from([]));
  await expect(reading).rejects.toBeInstanceOf(UsageError);
  await expect(reading).rejects.toThrow(message);
});
