import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { afterAll, expect, it } from 'vitest';
import { findFreePort } from '../../src/postgres/free-port.ts';
import { axeFindings, dashboardPages } from '../support/servers/dashboard-page.ts';
import { linkDependencies, machinePath } from '../support/machine-node.ts';
import { prefixProxy } from '../support/servers/prefix-proxy.ts';
import { until } from '../support/until.ts';

/**
 * The walk of a newcomer who has nothing but the README: this reads its commands and its file out of the
 * section "Your own job" and does what it says, with the Node of this machine. What needs a registry is
 * replaced: the checkout is installed already, and what `npm install` would bring is linked.
 */
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const { shop, open } = dashboardPages();
const folder = await mkdtemp(join(tmpdir(), 'longshore-newcomer-'));
// Beside the checkout is no place for a test.
const project = join(folder, 'my-jobs');
let server: ChildProcess | undefined;

afterAll(async () => {
  if (server && server.exitCode === null) {
    const ended = new Promise((done) => server?.once('exit', done));
    // The whole group: npm, its shell and the server, as Ctrl-C in a terminal does.
    process.kill(-(server.pid ?? 0), 'SIGINT');
    await ended;
  }
  await rm(folder, { recursive: true, force: true });
});

interface Block {
  language: string;
  text: string;
}

function sectionOf(title: string): string {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  return readme.split(`\n## ${title}\n`)[1]?.split('\n## ')[0] ?? '';
}

function blocksOf(section: string): Block[] {
  return [...section.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language = '', text = '']) => ({
    language,
    text,
  }));
}

// npm, npx and a server start one after the other: a busy machine needs minutes for them.
const WALK = { timeout: 600_000 };

it(
  'gets from the README to a job of their own, seen and retried in the dashboard',
  WALK,
  async () => {
    const section = sectionOf('Your own job');
    const blocks = blocksOf(section);
    const commands = blocks
      .filter(({ language }) => language === 'sh')
      .flatMap(({ text }) => text.trim().split('\n'))
      .map((line) => line.replace(/\s+#.*$/, '').replace('../my-jobs', project));
    expect(commands.length).toBeLessThanOrEqual(8);

    const port = String(await findFreePort(24_400));
    const { HOME } = process.env;
    const PATH = machinePath();
    const address = `http://127.0.0.1:${port}`;
    const env = { PATH, HOME, LONGSHORE_PORT: port, LONGSHORE_URL: address };
    let cwd = ROOT;
    let output = '';
    const page = await open('/');

    for (const command of commands) {
      if (command === 'npm ci') continue;
      if (command.startsWith('cd ')) cwd = resolve(cwd, command.slice(3));
      else if (command === 'npm install') await linkDependencies(cwd);
      else if (command === 'npm run dev') {
        server = spawn('npm', ['run', 'dev'], { cwd, env, detached: true, stdio: 'pipe' });
        server.stdout?.setEncoding('utf8').on('data', (text: string) => (output += text));
        server.stderr?.setEncoding('utf8').on('data', (text: string) => (output += text));
        await until('the server is up', () => output.includes(`${address}/ui/`));
        const [file] = blocks.filter(({ language }) => language === 'ts');
        const [, path = ''] = /^\/\/ (\S+)\n/.exec(file?.text ?? '') ?? [];
        await writeFile(join(project, path), file?.text ?? '');
        const awaited = /wait until the first terminal prints\s+`(.+?)`/.exec(section)?.[1] ?? '-';
        await until(`it prints ${awaited}`, () => output.includes(awaited));
      } else if (command.includes('longshore list')) {
        await page.goto(`${address}/`);
        await page.getByText('1 issue needs attention').waitFor();
        await page.getByRole('link', { name: /^total .*failed.*ENOENT/ }).click();
        await page.getByRole('heading', { name: 'Why it failed' }).waitFor();
        await page.getByRole('button', { name: 'Retry', exact: true }).click();
        await page.getByText(/^Succeeded on attempt 2/).waitFor();
        expect((await shell(command, cwd, env)).stdout).toMatch(/total\s/);
      } else {
        const { stdout, stderr, code } = await shell(command, cwd, env);
        const fails = command.includes('enqueue');
        if (fails) expect(stdout + stderr).toContain('ENOENT');
        expect({ command, stderr, failed: code !== 0 }).toEqual({ command, stderr, failed: fails });
      }
    }
    expect(existsSync(join(project, 'prices.json'))).toBe(true);
    const tested = await shell('npm test', project, env);
    expect(tested.stdout).toMatch(/tests 1\n.*pass 1\n/s);
  },
);

it('reads on in the docs, also below the path of a proxy', async () => {
  await using proxy = await prefixProxy(shop.address, '/tools/jobs');
  const page = await open('/');
  await page.goto(`${proxy.address}/tools/jobs/docs`);
  await page.getByRole('link', { name: 'Cancelling and timeouts' }).first().click();
  await page.getByRole('heading', { level: 1, name: 'Cancelling and timeouts' }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  // Words of a text, not of a heading; results while one types, chosen with the keyboard.
  await page.keyboard.press('/');
  await page.keyboard.type('lost response');
  const results = page.getByRole('region', { name: 'Search results' });
  await results.getByRole('link', { name: /Repeated requests/ }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  // The arrow keys go from result to result.
  await expect
    .poll(async () => {
      await page.keyboard.press('ArrowDown');
      return await results
        .locator('a:focus')
        .getByText(/Repeated requests/)
        .count();
    })
    .toBeGreaterThan(0);
  await page.keyboard.press('Enter');
  await page.waitForURL('**/tools/jobs/docs/enqueueing#repeated-requests-idempotencykey');
  const code = page.locator('.code').first();
  await code.hover();
  await code.getByRole('button', { name: 'Copy' }).click();
  await code.getByRole('button', { name: 'Copied' }).waitFor();
  const copied = await page.evaluate<string>('navigator.clipboard.readText()');
  expect(copied).toContain("import { Longshore, ProblemError } from 'longshore/client';");
  await page.getByRole('searchbox').fill('bulk');
  await page.getByRole('searchbox').press('Enter');
  await page
    .getByText(/\d+ sections found/)
    .last()
    .waitFor();
  await readOnAPhone(page);
  await page.getByRole('link', { name: 'API reference' }).click();
  await page.getByRole('heading', { level: 1, name: 'Longshore' }).waitFor();
  await page.goto(`${page.url()}#tag/server/GET/livez`);
  await page.reload();
  await page.getByRole('button', { name: /Test Request.*livez/ }).click();
  await page.getByRole('button', { name: /^Send get/ }).click();
  await page.getByText('200 OK').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: 'Longshore docs' }).click();
  await page.getByRole('link', { name: 'The dashboard' }).first().click();
  await page.getByRole('img').first().waitFor();
  expect(proxy.strays).toEqual([]);
  await page.goto('about:blank');
});

/** The page comes first, and the contents are behind a button. */
async function readOnAPhone(page: Page): Promise<void> {
  const size = page.viewportSize() ?? { width: 1360, height: 900 };
  await page.setViewportSize({ width: 390, height: 844 });
  const menu = page.getByRole('navigation', { name: 'Pages' });
  const link = menu.getByRole('link', { name: 'Schedules', exact: true });
  expect(await link.isVisible()).toBe(false);
  await page.getByRole('button', { name: 'Contents' }).click();
  expect(await axeFindings(page)).toEqual([]);
  await link.click();
  await page.getByRole('heading', { level: 1, name: 'Schedules' }).waitFor();
  expect(await link.isVisible()).toBe(false);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  await page.setViewportSize(size);
}

async function shell(command: string, cwd: string, env: NodeJS.ProcessEnv) {
  const ran = promisify(execFile)('bash', ['-c', command], { cwd, env, encoding: 'utf8' });
  return await ran.then(
    ({ stdout, stderr }) => ({ stdout, stderr, code: 0 }),
    (error: { stdout: string; stderr: string; code: number }) => error,
  );
}
