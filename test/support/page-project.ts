import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { blocksOf } from './checks/docs-blocks.ts';
import { endAll } from './processes.ts';
import { testDatabase, type TestDatabase } from './servers/database.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

export interface PageProject {
  folder: string;
  /** Settings of a server with its jobs and its database. */
  env(): Record<string, string>;
  database(): TestDatabase;
}

/**
 * A project of the blocks of a page, each in the file that its first line names, and of `files`; and a
 * database. Both are there for the tests of one file; processes end after each test.
 */
export function pageProject(
  page: string,
  files: Record<string, string>,
  leaseMs: number,
): PageProject {
  // Inside the checkout, so that `longshore` resolves as it does for a user.
  const folder = join(ROOT, 'tmp', basename(page, '.md'));
  let database: TestDatabase;
  beforeAll(async () => {
    database = await testDatabase();
    await mkdir(join(folder, 'jobs'), { recursive: true });
    for (const path of [folder, join(folder, 'jobs')]) await chmod(path, 0o755);
    for (const { text } of blocksOf(page, 'ts')) {
      const [, name = 'unnamed'] = /^\/\/ (\S+)/.exec(text) ?? [];
      await writeFile(join(folder, name), text);
    }
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  });
  afterEach(endAll);
  afterAll(async () => {
    await database.close();
    await rm(folder, { recursive: true });
  });
  return {
    folder,
    database: () => database,
    env: () => ({
      DATABASE_URL: database.url,
      LONGSHORE_JOBS: join(folder, 'jobs'),
      LONGSHORE_LEASE_MS: String(leaseMs),
    }),
  };
}

/** A job `slow` that ends when the file in its params exists. */
export const SLOW_JOB = `
import { existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { defineJob } from 'longshore';

export const slow = defineJob({
  key: 'slow',
  run: async ({ file }: { file: string }) => {
    while (!existsSync(file)) await pause(20);
    return 'slow';
  },
});
`;
