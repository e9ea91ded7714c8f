import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testDatabase, type TestDatabase } from '../support/servers/database.ts';
import { until } from '../support/until.ts';

/** Every example, run as its README says, in an empty folder. */

const mainOf = (name: string) =>
  fileURLToPath(new URL(`../../examples/${name}/main.ts`, import.meta.url));

let database: TestDatabase;
let folder: string;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  database = await testDatabase();
  folder = await mkdtemp(join(tmpdir(), 'longshore-examples-'));
  const { PATH, HOME } = process.env;
  env = { PATH, HOME, DATABASE_URL: database.url };
});
afterAll(async () => {
  await database.close();
  await rm(folder, { recursive: true });
});

function runExample(name: string): string {
  const options = { cwd: folder, env, encoding: 'utf8', timeout: 120_000 } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, [mainOf(name)], options);
  expect(stderr).toBe('');
  expect(status).toBe(0);
  return stdout;
}

describe('examples', () => {
  it('thumbnails makes pictures that are smaller, and refuses what is none', async () => {
    const said = runExample('thumbnails');
    expect(said).toContain('dawn.png: succeeded, tmp/thumbnails/dawn.png, 160 x 107');
    expect(said).toContain('broken.png: failed, this is no PNG file');
    const picture = await readFile(join(folder, 'tmp/thumbnails/dusk.png'));
    expect(picture.toString('latin1', 1, 4)).toBe('PNG');
    expect(picture.readUInt32BE(16)).toBe(160);
  });

  it('report draws a PDF of the right sums', async () => {
    expect(runExample('report')).toMatch(/tmp\/report\.pdf: 9 rows, 7132\.50 in all, \d{4,} bytes/);
    const pdf = await readFile(join(folder, 'tmp/report.pdf'), 'latin1');
    expect(pdf).toMatch(/^%PDF-1\.\d[^]*%%EOF\s*$/);
  });

  it('agent is killed, goes on after its last checkpoint, and answers', () => {
    const said = runExample('agent');
    expect(said).toContain('attempt 1 failed, and is tried again');
    const [, resumedAt] = /went on after turn (\d+)/.exec(said) ?? [];
    expect(Number(resumedAt)).toBeGreaterThanOrEqual(3);
    expect(said).toMatch(/^- \S+\.md: # /m);
  });

  it('approval goes on after a restart with the answer of a person, who has a link', () => {
    const said = runExample('approval');
    expect(said).toContain('Refund 40 € for order 7?');
    expect(said).toContain('/v1/links/lsl_…');
    expect(said).toContain('the page has 2 buttons');
    expect(said).toContain('the answer is answered 200\nthe same again is answered 410');
    expect(said).toContain('{"order":7,"refunded":40,"note":"as agreed"}');
  });

  it.skipIf(spawnSync('python3', ['--version']).status !== 0)('python finds the outlier', () => {
    const said = runExample('python');
    expect(said).toContain('"value":2401');
    expect(said).toContain('stdout: attempt 1 looked at 9 values');
  });

  it('crawler finds the dead link of each site, and waits when it is asked to', () => {
    const said = runExample('crawler');
    expect(said.match(/^14 pages, 1 dead links, 1[6-9] attempts$/gm)).toHaveLength(2);
    expect(said.match(/\/page\/13 answered 404, linked from \S+\/page\/12$/gm)).toHaveLength(2);
  });

  it('webhook-consumer hears of both jobs, and refuses what is forged', () => {
    expect(runExample('webhook-consumer')).toBe(
      'Ada: succeeded\nBob: failed, Bob cannot pay 0 cents\na forged event is answered 401\n',
    );
  });

  it('web-app answers at once and sends one letter in the background', async () => {
    const outbox = join(folder, 'outbox.txt');
    const child = spawn(process.execPath, [mainOf('web-app')], {
      env: { ...env, PORT: '0', OUTBOX: outbox },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    try {
      let said = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
      const url = await until('it is up', () => /curl -sS (\S+)\/sign-ups /.exec(said)?.[1]);
      const signUp = async (email: string) =>
        await fetch(`${url}/sign-ups`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ email }),
        });
      expect((await signUp('no-address')).status).toBe(400);
      const { id } = (await (await signUp('ada@example.com')).json()) as { id: string };
      expect(await (await signUp('ada@example.com')).json()).toEqual({ id });
      await until('it was sent', async () => {
        const answer = await (await fetch(`${url}/sign-ups/${id}`)).json();
        return (answer as { status: string }).status === 'succeeded';
      });
      expect(await readFile(outbox, 'utf8')).toBe('To: ada@example.com\nWelcome aboard!\n\n');
      expect((await fetch(`${url}/sign-ups/unknown`)).status).toBe(404);
    } finally {
      child.kill('SIGTERM');
    }
    expect(await ended).toBe(0);
  });
});
