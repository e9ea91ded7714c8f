import { spawn } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { findFreePort } from '../../../src/postgres/free-port.ts';
import { compileCache } from '../../support/compile-cache.ts';
import { testDatabase, sharedDatabase } from '../../support/servers/database.ts';
import { blocksOf } from '../../support/checks/docs-blocks.ts';
import { endAll, launch, type Running } from '../../support/processes.ts';

/** The code blocks of pages that show whole programs, run as a reader would: saved and started. */

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
// Inside the checkout, so that `longshore` and `zod` resolve as they do for a user.
const FOLDER = join(ROOT, 'tmp', 'docs-scripts');

/** A block that names its file is kept for the others; all others are programs. */
async function save(page: string, change: (code: string) => string): Promise<string[]> {
  const programs: string[] = [];
  for (const [index, { file, text: code }] of blocksOf(page, 'ts').entries()) {
    const path = join(FOLDER, page, file ?? `block-${index}.ts`);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, change(code));
    if (file === null) programs.push(path);
  }
  return programs;
}

async function start(args: string[], databaseUrl: string): Promise<{ code: number; said: string }> {
  // Inside a run of tests node:test would report to that one instead of by its exit code.
  const env = { PATH: process.env['PATH'], DATABASE_URL: databaseUrl, ...compileCache() };
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const [said, trouble, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number>((resolve) => child.once('close', (exit) => resolve(exit ?? -1))),
  ]);
  return { code, said: said + trouble };
}

afterAll(async () => await rm(FOLDER, { recursive: true, force: true }));

describe('docs/testing.md', () => {
  it('has tests that pass', async () => {
    const programs = await save('docs/testing.md', (code) => code);
    expect(programs).toHaveLength(3);
    const { code, said } = await start(['--test', ...programs], inject('clusterUrl'));
    expect(said).toMatch(/pass 3/);
    expect(code, said).toBe(0);
  });
});

describe('docs/sdk.md', () => {
  const database = sharedDatabase();
  let server: Running;
  let programs: string[];

  beforeAll(async () => {
    await save('docs/sdk.md', (code) => code);
    server = await launch('start', {
      env: { DATABASE_URL: database.url, LONGSHORE_JOBS: join(FOLDER, 'docs/sdk.md/jobs') },
    });
    const here = (code: string) => code.replace('http://127.0.0.1:4400', server.summary.address);
    programs = await save('docs/sdk.md', here);
  });
  afterAll(async () => await endAll());

  it('has programs that say what they should', async () => {
    const said = [];
    for (const program of programs) {
      const run = await start([program], database.url);
      expect(run).toMatchObject({ code: 0 });
      said.push(run.said.trim().split('\n'));
    }
    expect(said).toEqual([
      [expect.stringMatching(/^202 \{ jobId: '[\w-]+' \}$/)],
      ['cat-200.png', 'dog-20.png succeeded'],
      [
        'info resizing owl',
        'created null',
        'queued null',
        'started 1',
        'succeeded 1',
        'succeeded 1',
      ],
      expect.arrayContaining([
        'event: progress',
        'data: {"fraction":1,"message":"part 3"}',
        'event: end',
        'data: "succeeded"',
        '404',
      ]),
      ['The tide is in.'],
      [expect.stringMatching(/^gone: /)],
      ['fox-10.png'],
      ['claimed 0, 0 left'],
    ]);
  });

  it('and docs/transactions.md has some that store jobs with orders, or neither', async () => {
    const [program = ''] = await save('docs/transactions.md', (code) => code);
    expect(await start([program], database.url)).toEqual({ code: 0, said: '36 queued\n' });
    const blocks = blocksOf('docs/transactions.md', 'sql');
    expect(blocks).toHaveLength(3);
    for (const { text: sql } of blocks) {
      await database.sql(sql.replaceAll('shop', `shop_${process.pid}`));
    }
    await database.sql(`drop owned by shop_${process.pid}; drop role shop_${process.pid}`);
    const stored = await database.sql<{ params: unknown }>(
      `select params from longshore.job where params::text like '%orderId%' order by id`,
    );
    expect(stored.map(({ params }) => params)).toEqual([
      { orderId: 1 },
      { orderId: 17 },
      { orderId: 2 },
    ]);
  });
});

describe('README.md', () => {
  it('has a client and an application that get the results of their jobs', async () => {
    const database = await testDatabase();
    try {
      await save('README.md', (code) => code);
      const jobs = join(FOLDER, 'README.md', 'jobs', 'resize.ts');
      const { summary } = await launch('start', {
        env: { DATABASE_URL: database.url, LONGSHORE_JOBS: jobs },
      });
      // Nothing is asked of the world, and what they leave to their reader is said at their end.
      const here = (code: string) =>
        code
          .replace('http://127.0.0.1:4400/docs', 'data:text/plain,abc')
          .replace('http://127.0.0.1:4400', summary.address)
          .replace("'.longshore/app'", JSON.stringify(join(FOLDER, 'data')));
      const programs = await save('README.md', here);
      const said = [];
      for (const program of programs.slice(0, 2)) {
        const run = await start([program], database.url);
        expect(run).toMatchObject({ code: 0 });
        said.push(run.said);
      }
      expect(said).toEqual([
        'downloaded data:text/plain,abc\nsucceeded { width: 200, bytes: 3 }\n',
        '{ removed: 3 }\n',
      ]);
    } finally {
      await endAll();
      await database.close();
    }
  });
});

describe('docs/operate/webhooks.md', () => {
  it('has a receiver that gets the events of a job', async () => {
    const database = await testDatabase();
    try {
      const jobs = join(ROOT, 'examples', 'jobs');
      const { summary } = await launch('start', {
        env: {
          DATABASE_URL: database.url,
          LONGSHORE_JOBS: jobs,
          LONGSHORE_WEBHOOK_ALLOW: '127.0.0.0/8',
        },
      });
      const port = String(await findFreePort(24_801));
      const here = (code: string) =>
        code.replace('http://127.0.0.1:4400', summary.address).replaceAll('4801', port);
      const [program = ''] = await save('docs/operate/webhooks.md', here);
      const { code, said } = await start([program], database.url);
      expect(said).toMatch(/^dev\.longshore\.job\.succeeded .*Ada/);
      expect(code).toBe(0);
    } finally {
      await endAll();
      await database.close();
    }
  });
});
