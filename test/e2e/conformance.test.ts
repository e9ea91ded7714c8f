import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Longshore } from '../../src/client/index.ts';
import type { Finding } from '../../src/conformance/check.ts';
import { checkWorker } from '../../src/conformance/worker/check-worker.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { isInstalled } from '../support/checks/extras.ts';
import { BIN, endAll, FIXTURES, launch, run } from '../support/processes.ts';
import { quickFolder } from '../support/quick-folder.ts';
import { testDatabase, type TestDatabase } from '../support/servers/database.ts';

const EXAMPLES = fileURLToPath(new URL('../../examples/', import.meta.url));
const SMALL = [process.execPath, join(FIXTURES, 'conformance-worker.ts')];

const JOBS = 'reports a result and a failure';

let folder: string;

beforeAll(async () => {
  folder = await quickFolder('longshore-conformance-');
});

afterAll(async () => {
  await endAll();
  await rm(folder, { recursive: true, force: true });
});

/** What the page promises. */
const PAGE = readFileSync(new URL('../../docs/operate/remote-workers.md', import.meta.url), 'utf8');

/** The numbered rules below a heading of the page. */
function rulesOf(heading: string): number[] {
  const [section = ''] = PAGE.split(`### ${heading}\n`)[1]?.split('\n#') ?? [];
  return [...section.matchAll(/^(\d)\. /gm)].map(([, number]) => Number(number));
}

const documents = (stdout: string) => (JSON.parse(stdout) as { findings: Finding[] }).findings;
const notOk = (findings: readonly Finding[]) => findings.filter(({ status }) => status !== 'ok');

function goWorker(): string {
  const program = join(folder, 'worker');
  const { status, stderr } = spawnSync('/usr/bin/go', ['build', '-o', program, '.'], {
    cwd: join(EXAMPLES, 'worker-go'),
    env: { PATH: process.env['PATH'], HOME: folder, GOPROXY: 'off', GOFLAGS: '' },
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([0, '']);
  return program;
}

describe('longshore conformance worker', () => {
  const jobs = join(FIXTURES, 'conformance');
  const python = join(EXAMPLES, 'worker-python/conformance.py');
  it.concurrent.for([
    ['our own worker', true, () => [process.execPath, BIN, 'worker', '--jobs', jobs]],
    ['the worker in Python', isInstalled('python3'), () => ['/usr/bin/python3', python]],
    ['the worker in Go', isInstalled('golang-go'), () => [goWorker(), 'conformance']],
  ] as const)('finds that %s follows all rules', async ([, installed, command], { skip }) => {
    skip(!installed);
    const args = ['conformance', 'worker', '--json', '--', ...command()];
    const env = { PYTHONDONTWRITEBYTECODE: '1', LONGSHORE_RUNNER_UIDS: 'none' };
    const { code, stdout, stderr } = await run(args, { env });
    expect([notOk(documents(stdout)), code]).toEqual([[], 0]);
    const rules = new Set(documents(stdout).map(({ rule }) => rule));
    expect(rules).toEqual(new Set(rulesOf('Rules for a worker')));
    const shown = [...PAGE.matchAll(/^(?:ok|failed) +rule (\d) {2}(.*)$/gm)];
    const played = documents(stdout).map(({ rule, check }) => `${rule} ${check}`);
    expect(played).toEqual(
      expect.arrayContaining(shown.map(([, rule, check]) => `${rule} ${check}`)),
    );
    expect(stderr).not.toMatch(/Traceback|panic/);
  });
});

describe('a worker that breaks a rule', () => {
  const BROKEN = [
    ['ignores-cancel', 2, 'stops a job in cancel, and reports how it ended'],
    ['slow-beats', 2, 'sends a heartbeat at once when a turn answers beat: true'],
    ['reports-gone', 2, 'drops a job in gone, and reports nothing'],
    ['ignores-drain', 2, 'takes no more jobs on drain, finishes what runs, and leaves'],
    ['forgets-outcomes', 4, 'keeps an outcome until it is settled (the connection closes)'],
    ['settles-twice', 4, 'reports only about claims that it got'],
    ['no-holding', 5, 'sends holding after a turn without an answer (the connection closes)'],
    ['starts-twice', 5, 'starts a claim once that is delivered twice'],
    ['keeps-id', 6, 'makes a new id after a 410'],
    ['wrong-body', 1, 'registers, and keeps a turn open while there is room'],
  ] as const;

  it.concurrent.for(BROKEN)('%s: fails rule %d', async ([defect, rule, check]) => {
    const findings = await checkSmall(defect, check, 8_000);
    const failed = findings.filter(({ status }) => status === 'failed');
    expect(failed.map((one) => [one.rule, one.check])).toContainEqual([rule, check]);
    expect(failed[0]?.detail).toMatch(/expected .*; came |an outcome of /);
  });

  it.concurrent('passes all rules without its defect', async () => {
    expect(notOk(await checkSmall('none', null, 60_000))).toEqual([]);
  });
});

async function checkSmall(defect: string, only: string | null, patienceMs: number) {
  return await checkWorker({
    port: 0,
    leaseMs: 3_000,
    command: [...SMALL, defect],
    env: { PATH: process.env['PATH'] },
    output: null,
    clock: systemClock,
    // What is judged by all calls needs a job.
    picks: ({ check }) => only === null || check === only || check === JOBS,
    patienceMs,
    signal: new AbortController().signal,
    onStart: () => {},
    onFinding: () => {},
  });
}

it('says how to start a worker, prints a line for each rule, and fails with exit code 1', async () => {
  const child = spawn(process.execPath, [BIN, 'conformance', 'worker', '--rule', '5'], {
    env: { PATH: process.env['PATH'] },
  });
  let stdout = '';
  let stderr = '';
  let worker: ChildProcess | undefined;
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    const found = [...stderr.matchAll(/^(LONGSHORE_\w+)=(.*)\n/gm)].map(([, name, value]) => [
      name,
      value,
    ]);
    if (worker || found.length < 3) return;
    worker = spawn(SMALL[0] ?? '', [SMALL[1] ?? '', 'no-holding'], {
      env: { PATH: process.env['PATH'], ...(Object.fromEntries(found) as Record<string, string>) },
    });
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  worker?.kill('SIGKILL');
  expect(code).toBe(1);
  expect(stdout).toMatch(
    /^ok {6}rule 1 {2}registers, .*\nfailed {2}rule 5 .*\n {8}expected .*; came /,
  );
  expect(stderr).toMatch(/\n2 ok, 3 failed\.\n$/);
});

describe('longshore conformance server', () => {
  let database: TestDatabase;
  let env: Record<string, string>;
  let admin: string;
  let address: string;

  beforeAll(async () => {
    database = await testDatabase();
    env = { DATABASE_URL: database.url };
    const made = await run(['keys', 'create', '--scope', 'admin', '--quiet'], { env });
    admin = made.stdout.trim();
    ({ address } = (await launch('api', { env })).summary);
    await launch('scheduler', { env });
  });

  afterAll(async () => {
    await endAll();
    await database.close();
  });

  it('finds that our server follows all rules', async () => {
    const client = { LONGSHORE_URL: address, LONGSHORE_API_KEY: admin };
    const { code, stdout } = await run(['conformance', 'server', '--json'], { env: client });
    expect([notOk(documents(stdout)), code]).toEqual([[], 0]);
    const rules = new Set(documents(stdout).map(({ rule }) => rule));
    expect(rules).toEqual(new Set(rulesOf('Rules for a server')));
  });

  it('asks for each job where its key may not enqueue, and skips what its key may not do', async () => {
    const made = await run(['keys', 'create', '--scope', 'worker', '--quiet'], { env });
    const client = new Longshore({ url: address, apiKey: admin });
    const child = spawn(process.execPath, [BIN, 'conformance', 'server', '--json'], {
      env: { LONGSHORE_URL: address, LONGSHORE_API_KEY: made.stdout.trim() },
    });
    let stdout = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      for (const [, key = ''] of text.matchAll(/Run: npx longshore enqueue (\S+)/g)) {
        void client.enqueue(key, {});
      }
    });
    const code = await new Promise((resolve) => child.once('close', resolve));
    const details = notOk(documents(stdout)).map(({ status, detail }) => `${status}: ${detail}`);
    expect([code, new Set(details)]).toEqual([
      0,
      new Set([
        'skipped: it needs a key with the scope jobs:read',
        'skipped: it needs a key with the scope jobs:write',
        'skipped: it needs a key with the scope operate',
      ]),
    ]);
  });

  it('fails at an address that is no server', async () => {
    const { port } = new URL(database.url);
    const env = { LONGSHORE_URL: `http://127.0.0.1:${port}`, LONGSHORE_API_KEY: 'lsk_x' };
    const { code, stdout } = await run(['conformance', 'server'], { env });
    expect([code, stdout]).toEqual([1, expect.stringMatching(/^failed {2}rule 1 /)]);
  });
});
