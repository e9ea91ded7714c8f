import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, expect, it } from 'vitest';
import { localWorker } from '../../../src/app/local-worker.ts';
import { defineJob } from '../../../src/core/definition/define.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { startAll, stopAll } from '../../../src/runtime/service.ts';
import { listDefinitions, publishDefinitions } from '../../../src/store/enqueue/definitions.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { QUICK } from '../../support/servers/quick-worker.ts';

/** Charts mark a definition whose `publishedAt` moves: when its code or its rules have changed. */
const database = sharedDatabase();
const { info } = defineJob({ key: 'greet', run: () => 1 });

beforeEach(async () => void (await database.sql('delete from longshore.definition')));

/** Publishes it with this code; whether that is a new publication. */
async function marks(code: string | undefined, over: Partial<typeof info> = {}): Promise<boolean> {
  const before = await publishedAt('greet');
  const codeHash = code === undefined ? {} : { codeHash: code };
  await publishDefinitions(database.db, [{ ...info, ...over, ...codeHash }]);
  return (await publishedAt('greet')) !== before;
}

async function publishedAt(of: string): Promise<string | undefined> {
  // To the microsecond: two publications may be in one millisecond.
  const [row] = await database.sql<{ at: string }>(
    'select published_at::text as at from longshore.definition where key = $1',
    [of],
  );
  return row?.at;
}

/** Where the user of the processes of jobs may read. */
function projectFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'longshore-code-'));
  chmodSync(folder, 0o755);
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(
    fileURLToPath(new URL('../../..', import.meta.url)),
    join(folder, 'node_modules/longshore'),
  );
  return folder;
}

/** As if all workers had started this much earlier. */
async function hoursPass(hours: number): Promise<void> {
  await database.sql(
    `update longshore.definition set codes = (
       select jsonb_agg(jsonb_set(one, '{at}', to_jsonb((one ->> 'at')::timestamptz
         - interval '${hours} hours'))) from jsonb_array_elements(codes) e(one))`,
  );
}

it('a start with changed code, or with changed rules, is a new publication', async () => {
  expect(await marks('a')).toBe(true);
  expect(await marks('a')).toBe(false);
  expect(await marks('b')).toBe(true);
  expect(await marks('b', { maxAttempts: 9 })).toBe(true);
  expect(await marks('b', { maxAttempts: 9 })).toBe(false);
  expect(await marks(undefined, { maxAttempts: 9 })).toBe(false);
  const [listed] = await listDefinitions(database.db);
  expect(listed).not.toHaveProperty('codeHash');
});

it('workers with different code that start again and again are one publication each', async () => {
  expect([await marks('a'), await marks('b')]).toEqual([true, true]);
  for (let start = 0; start < 3; start += 1) {
    expect([await marks('a'), await marks('b')]).toEqual([false, false]);
  }
  for (let code = 0; code < 20; code += 1) await marks(`code ${code}`);
  const [{ kept } = { kept: 0 }] = await database.sql<{ kept: number }>(
    'select jsonb_array_length(codes) as kept from longshore.definition',
  );
  expect(kept).toBe(10);
});

it('going back to older code is a new publication', async () => {
  await marks('a');
  await hoursPass(2);
  expect([await marks('b'), await marks('a')]).toEqual([true, true]);
});

it('a worker whose code imports a changed file publishes its definition anew, and no other one', async () => {
  const folder = projectFolder();
  mkdirSync(join(folder, 'jobs'));
  const write = (name: string, text: string) => writeFileSync(join(folder, 'jobs', name), text);
  const job = (key: string, body: string) =>
    `import { defineJob } from 'longshore';\n${body}\nexport const job = defineJob({ key: '${key}', run: () => value });\n`;
  const start = async () => {
    const { db, waker, url } = database;
    const settings = { ...QUICK, databaseUrl: url, jobs: join(folder, 'jobs') };
    const { services } = localWorker(db, waker, settings, silentLog);
    await startAll(services);
    await stopAll(services);
    return [await publishedAt('one'), await publishedAt('two')];
  };
  try {
    write('one.ts', job('one', "import { value } from './_lib.ts';"));
    write('two.ts', job('two', 'const value: number = 2;'));
    write('_lib.ts', 'export const value: number = 1;\n');
    const first = await start();
    expect(await start()).toEqual(first);
    write('_lib.ts', 'export const value: number = 3;\n');
    const [one, two] = await start();
    expect(one).not.toBe(first[0]);
    expect(two).toBe(first[1]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
