import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { definitionInfo } from '../../../src/core/definition/check-definition.ts';
import { HttpServer } from '../../../src/http/server.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { publishDefinitions } from '../../../src/store/enqueue/definitions.ts';
import { sharedDatabase } from '../../support/servers/database.ts';

/** The programs of two pages, run as a reader would run it, against a real server. */

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
// Inside the checkout, so that `longshore/client` resolves as it does for a user.
const FOLDER = join(ROOT, 'tmp', 'enqueueing-page');

const database = sharedDatabase();
let server: HttpServer;

beforeAll(async () => {
  const { db, enqueuer } = database;
  const paramsSchema = z.toJSONSchema(z.object({ name: z.string(), width: z.int() }));
  await publishDefinitions(db, [definitionInfo({ key: 'docs.thumbnail' }, { paramsSchema })]);
  const at = { host: '127.0.0.1', port: 0, version: '0' };
  server = new HttpServer({ db, enqueuer, log: silentLog, ...at });
  await server.start();
  await mkdir(FOLDER, { recursive: true });
});
afterAll(async () => {
  await server.stop();
  await rm(FOLDER, { recursive: true });
});

it.each([
  ['docs/enqueueing.md', 5],
  ['docs/guides/debounce.md', 3],
])('the program of %s prints what the page says', async (path, lines) => {
  const page = readFileSync(join(ROOT, path), 'utf8');
  const [program = '', printed = ''] = [...page.matchAll(/^```(?:ts)?\n(.*?)^```$/gms)].map(
    ([, text]) => text ?? '',
  );
  const file = join(FOLDER, 'program.ts');
  await writeFile(file, program.replace('http://127.0.0.1:4400', server.address));
  const { stdout } = await promisify(execFile)(process.execPath, [file]);
  expect(stdout).toBe(printed);
  expect(printed.split('\n')).toHaveLength(lines);
});
