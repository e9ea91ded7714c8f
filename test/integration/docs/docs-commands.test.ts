import { execFile } from 'node:child_process';
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../../../src/cli/run.ts';
import { Longshore } from '../../../src/client/index.ts';
import { shortId } from '../../../src/core/job/short-id.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { blocksOf, type CommandLine, commandsIn } from '../../support/checks/docs-blocks.ts';
import { endAll, launch } from '../../support/processes.ts';
import { type MailServer, startMailServer } from '../../support/providers/mail-server.ts';
import { until } from '../../support/until.ts';

/**
 * The commands of the pages, each run against a real server. They run inside this process, since a hundred
 * processes would take a minute. Where a page shows an id, the command gets that of a job, a key or a
 * worker that is as the page has it.
 */

const PAGES = [
  'README.md',
  'docs/operate/alerts.md',
  'docs/cli.md',
  'docs/limits.md',
  'docs/operate/security.md',
  'docs/operate/usage.md',
  'docs/operate/webhooks.md',
];
/** Those that stay until they are stopped: `docs-blocks.test.ts` reads them, e2e tests start them. */
const STAY = ['start', 'api', 'worker', 'scheduler', 'ingest', 'dev', 'mcp'];
/**
 * What the newcomer does, in a project of their own, and what e2e/conformance and
 * integration/import run.
 */
const ELSEWHERE =
  /init \.\.\/my-jobs|enqueue total|list --status succeeded|conformance worker|import (pg-boss|bullmq)/;

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
// Inside the checkout, so that `longshore` resolves as it does for a user.
const FOLDER = join(ROOT, 'tmp', 'docs-commands');
const JOBS = join(FOLDER, 'jobs');
/** What the pages call by name and the examples do not have. */
const NAMED = `import { defineJob } from 'longshore';
export const report = defineJob({ key: 'report', run: () => null });
export const build = defineJob({ key: 'report.build', run: () => null });
export const invoice = defineJob({ key: 'invoice', run: () => null });
`;

const database = sharedDatabase();
let address: string;
let client: Longshore;
let env: Record<string, string>;
/** A job that has succeeded. */
let greeted: string;
let webhook: string;
let mail: MailServer;

beforeAll(async () => {
  mail = await startMailServer();
  await mkdir(FOLDER, { recursive: true });
  await cp(join(ROOT, 'examples/jobs'), JOBS, { recursive: true });
  await writeFile(join(JOBS, 'named.ts'), NAMED);
  await writeFile(join(FOLDER, 'params.json'), '{"name":"Ada"}');
  const server = {
    DATABASE_URL: database.url,
    LONGSHORE_JOBS: JOBS,
    LONGSHORE_ARTIFACTS: join(FOLDER, 'artifacts'),
    LONGSHORE_ARTIFACT_CACHE: join(FOLDER, 'cache'),
    // A stubborn job is among them; the test does not wait for it.
    LONGSHORE_CANCEL_GRACE_MS: '200',
    LONGSHORE_DRAIN_MS: '200',
    LONGSHORE_SMTP_URL: mail.url,
    LONGSHORE_ALERT_FROM: 'longshore@example.com',
  };
  address = (await launch('start', { env: server })).summary.address;
  const keys = `2026:${Buffer.alloc(32, 7).toString('base64')}`;
  env = { ...server, LONGSHORE_URL: address, LONGSHORE_ENCRYPTION_KEYS: keys };
});
afterAll(async () => {
  await endAll();
  await mail.close();
  await rm(FOLDER, { recursive: true });
});

async function longshore(args: readonly string[], stdin = '') {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const said = Promise.all([text(stdout), text(stderr)]);
  const code = await runCli(
    {
      stdin: Readable.from([stdin]),
      stdout,
      stderr,
      clock: systemClock,
      env,
      directory: FOLDER,
      exitCode: 0,
      onSignal: null,
      exit: () => {},
      loadApp: () => import('../../../src/app/app.ts'),
    },
    args,
  );
  stdout.end();
  stderr.end();
  const [out, words] = await said;
  return { code, stdout: out, stderr: words };
}

/** A job that the command can be used on. */
async function jobFor(command: string): Promise<string> {
  if (['release', 'signal', 'signal-link'].includes(command))
    return (await client.enqueue('report', {}, { hold: true })).id;
  if (!['cancel', 'retry', 'delete'].includes(command)) return greeted;
  const { id } = await client.enqueue('report', {}, { delayMs: 3_600_000 });
  if (command !== 'cancel') await client.cancel(id);
  return id;
}

/** A session of a browser. */
async function sessionId(): Promise<string> {
  const { key } = await client.keys.create({ name: 'browser', scopes: ['jobs:read'] });
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ key });
  const answer = await fetch(`${address}/v1/session`, { method: 'POST', headers, body });
  return ((await answer.json()) as { sessionId: string }).sessionId;
}

/** What a page can only show an example of. */
const STAND_INS: Record<string, (args: readonly string[]) => Promise<string> | string> = {
  ID: ([command = '']) => jobFor(command),
  $ID: ([command = '']) => jobFor(command),
  '01a1dddb-0337-7000-85fd-f7cdc5555800': ([command = '']) =>
    command === 'webhooks' ? webhook : jobFor(command),
  f7cdc5555800: async ([command = '']) => shortId(await jobFor(command)),
  '1f0c528d0e4f0b9a': async () =>
    (await client.keys.create({ name: 'one', scopes: ['jobs:read'] })).keyId,
  '9f86d081884c7d65': async () => await sessionId(),
  '6a1f0c52-8d0e-4f0b-9a53-1f6c2b7d9e10': async () => (await client.workers())[0]?.workerId ?? '',
  './jobs': () => JOBS,
  '@params.json': () => `@${join(FOLDER, 'params.json')}`,
  // Nothing is measured here.
  '2000': () => '20',
};

/** The first makes what others need, and after the last there is no worker left to run a job. */
function placeOf({ line }: CommandLine): number {
  if (line.includes('tenants create')) return 0;
  return line.includes('workers drain') ? 2 : 1;
}

const commands = PAGES.flatMap((page) => blocksOf(page, 'sh').flatMap(commandsIn))
  .filter(({ line, args: [name = ''] }) => !STAY.includes(name) && !ELSEWHERE.test(line))
  .sort((a, b) => placeOf(a) - placeOf(b));

it('the first requests of README.md are answered as it says', async () => {
  const [block] = blocksOf('README.md', 'sh').filter((one) => one.text.startsWith('curl'));
  const [start = '', read = ''] = (block?.text ?? '').split(/^# .*\n/m);
  const ask = async (command: string) => {
    const here = command.replace('http://127.0.0.1:4400', address);
    return JSON.parse((await promisify(execFile)('bash', ['-c', here])).stdout) as {
      jobId: string;
      status: string;
    };
  };
  const { jobId, status } = await ask(start);
  expect(status).toBe('queued');
  const ended = await until('it has ended', async () => {
    const job = await ask(read.replace('01a1…', jobId));
    return job.status === 'succeeded' && job;
  });
  expect(ended).toMatchObject({ jobId, result: { greeting: 'Hello, you!' }, attempts: 1 });
});

describe('the commands', () => {
  beforeAll(async () => {
    const { stdout } = await longshore(['keys', 'create', '--scope', 'admin', '--name', 'test']);
    env['LONGSHORE_API_KEY'] = stdout.trim();
    client = new Longshore({ url: address, apiKey: stdout.trim() });
    const job = await client.enqueue('hello', { name: 'Ada' });
    await job.result();
    greeted = job.id;
    const hook = { url: 'https://example.com/hooks', events: ['job.failed' as const] };
    webhook = (await client.webhooks.create(hook)).id;
  });

  it('are all found', () => expect(commands.length).toBeGreaterThan(75));

  it.each(commands)('$line', async ({ line, args }) => {
    const words = [];
    for (const word of args) words.push((await STAND_INS[word]?.(args)) ?? word);
    const { code, stderr } = await longshore(words, '{"name":"Ada"}');
    // The cluster of the tests is not durable, which the doctor must not like; one job is to crash, which is
    // an issue then.
    const isBad = (word: string) => ['doctor', 'crashing', 'issues'].includes(word);
    const bad = words.some(isBad) && !words.includes('acme');
    expect({ line, code, stderr }).toEqual({ line, code: bad ? 1 : 0, stderr });
  });
});
