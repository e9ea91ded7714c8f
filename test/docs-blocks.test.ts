import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { z } from 'zod';
import { CONFIG_FILE } from '../src/config/config-file.ts';
import { loadConfig } from '../src/config/load.ts';
import { SETTINGS } from '../src/config/schema.ts';
import { AlertAnswer, AlertRuleBody } from '../src/protocol/alert.ts';
import { RunDueAnswer } from '../src/protocol/run-due.ts';
import { StatsAnswer } from '../src/protocol/answers/stats-answer.ts';
import { WebhookBody } from '../src/protocol/requests/webhook-body.ts';
import { idleProgram } from './support/cli.ts';
import { type Block, blocksOf, commandsIn, PAGES } from './support/checks/docs-blocks.ts';

/**
 * Every block of the README and of docs/ is run by a test. This one runs next to nothing: it knows who
 * does, and fails for a block that nobody claims. All TypeScript is held against the real types besides,
 * by docs-types.test.ts.
 */

interface Claim {
  by: string;
  page: string;
  language: string;
  /** Where not all blocks of a page are run by the same test: what stands in this one. */
  holding?: string;
}

const claim = (by: string, page: string, language: string, holding?: string): Claim => ({
  by: `test/${by}.test.ts`,
  page,
  language,
  ...(holding !== undefined && { holding }),
});

const CLAIMS: Claim[] = [
  claim('browser/newcomer', 'README.md', 'sh', 'npx longshore init'),
  claim('browser/newcomer', 'README.md', 'sh', 'npx longshore enqueue total'),
  claim('browser/newcomer', 'README.md', 'sh', 'npx longshore list --status succeeded'),
  claim('browser/newcomer', 'README.md', 'ts', '// jobs/total.ts'),
  claim('integration/docs/docs-commands', 'README.md', 'sh', 'curl'),
  claim('integration/docs/docs-commands', 'README.md', 'sh', 'npx longshore enqueue flaky'),
  claim('integration/docs/docs-scripts', 'README.md', 'ts', '// jobs/resize.ts'),
  claim('integration/docs/docs-scripts', 'README.md', 'ts', 'job.logs('),
  claim('integration/docs/docs-scripts', 'README.md', 'ts', 'createLongshore('),
  claim('integration/docs/docs-examples', 'README.md', 'ts', "key: 'report'"),
  claim('integration/docs/docs-commands', 'docs/alerts.md', 'sh'),
  claim('docs-blocks', 'docs/alerts.md', 'json'),
  claim('integration/docs/docs-examples', 'docs/cancelling.md', 'ts'),
  claim('integration/docs/docs-commands', 'docs/cli.md', 'sh'),
  claim('docs-blocks', 'docs/cli.md', 'json'),
  claim('docs-blocks', 'docs/configuration.md', 'json'),
  claim('integration/docs/deploy', 'docs/deploying.md', 'sql'),
  claim('integration/docs/enqueueing-page', 'docs/enqueueing.md', 'ts'),
  claim('e2e/failures', 'docs/failures.md', 'ts'),
  claim('e2e/failures', 'docs/failures.md', 'sh'),
  claim('integration/docs/docs-examples', 'docs/limits.md', 'ts'),
  claim('integration/docs/docs-commands', 'docs/limits.md', 'sh'),
  claim('integration/worker/job-log', 'docs/logging.md', 'json'),
  claim('docs-blocks', 'docs/metrics.md', 'json'),
  // A server with settings: flags and settings are read below, and other tests start servers.
  claim('docs-blocks', 'docs/poolers.md', 'sh'),
  claim('integration/database/pooler', 'docs/poolers.md', 'sql'),
  // They are held against those of the README, which the newcomer runs.
  claim('docs-pages', 'docs/quick-start.md', 'sh'),
  claim('docs-pages', 'docs/quick-start.md', 'ts'),
  claim('e2e/schedules', 'docs/schedules.md', 'sh'),
  claim('e2e/schedules', 'docs/schedules.md', 'ts', 'schedules.create('),
  claim('integration/docs/docs-examples', 'docs/schedules.md', 'ts', 'defineJob('),
  claim('integration/docs/docs-scripts', 'docs/sdk.md', 'ts'),
  claim('integration/docs/docs-commands', 'docs/security.md', 'sh', 'longshore keys'),
  claim('integration/docs/docs-scripts', 'docs/testing.md', 'ts'),
  // Likewise.
  claim('docs-blocks', 'docs/tracing.md', 'sh'),
  claim('integration/docs/docs-scripts', 'docs/transactions.md', 'ts'),
  claim('integration/docs/docs-scripts', 'docs/transactions.md', 'sql'),
  claim('integration/docs/docs-scripts', 'docs/webhooks.md', 'ts'),
  claim('integration/docs/docs-commands', 'docs/webhooks.md', 'sh'),
  claim('docs-blocks', 'docs/webhooks.md', 'json'),
  claim('integration/docs/docs-examples', 'docs/writing-jobs.md', 'ts'),
];

/** Shown and not run, each for a reason. */
const SHOWN: [page: string, holding: string, why: string][] = [
  ['README.md', 'npm ci && npm start', 'it needs a registry; e2e/start starts the same server'],
  ['README.md', 'npm ci && npm test', 'it is what runs this test'],
  ['docs/embedded-postgres.md', 'psql', 'the client tools of PostgreSQL 18 are not installed'],
  ['docs/embedded-postgres.md', 'pg_dump', 'the client tools of PostgreSQL 18 are not installed'],
  ['docs/metrics.md', 'scrape_configs:', 'there is no Prometheus here to read it'],
  [
    'docs/redis.md',
    'npm install redis',
    'it needs a registry; integration/redis-server has workers with a Redis',
  ],
  ['docs/security.md', 'openssl rand', 'openssl may be missing; integration/encryption has keys'],
  ['docs/tracing.md', '// tracing.ts', 'its exporter wants a collector; its types are checked'],
];

const RUNNABLE = ['ts', 'js', 'sh', 'sql', 'json', 'yaml'];
const blocks = PAGES.flatMap((page) => blocksOf(page));
const blockTitle = ({ page, language, text }: Block) =>
  `${page}: ${language} ${text.split('\n', 1)[0]?.slice(0, 60)}`;

const claims = (block: Block) =>
  CLAIMS.filter(
    ({ page, language, holding = '' }) =>
      page === block.page && language === block.language && block.text.includes(holding),
  );
const shown = (block: Block) =>
  SHOWN.filter(([page, holding]) => page === block.page && block.text.includes(holding));

describe('the blocks of README.md and docs/', () => {
  const runnable = blocks.filter(({ language }) => RUNNABLE.includes(language));

  it('are written in languages that are looked at, or are none', () => {
    const languages = new Set(blocks.map(({ language }) => language));
    expect([...languages].filter((one) => one !== '' && !RUNNABLE.includes(one))).toEqual([]);
    expect(runnable.length).toBeGreaterThan(80);
  });

  it('are each run by one test, or shown for a reason', () => {
    const wrong = runnable.filter((block) => claims(block).length + shown(block).length !== 1);
    expect(wrong.map(blockTitle)).toEqual([]);
  });

  it('are all there: no claim and no reason is left over', () => {
    const needed = new Set(runnable.flatMap(claims));
    expect(CLAIMS.filter((one) => !needed.has(one))).toEqual([]);
    const reasons = new Set(runnable.flatMap(shown));
    expect(SHOWN.filter((one) => !reasons.has(one))).toEqual([]);
  });

  it.each([...new Set(CLAIMS.map(({ by }) => by))])('are read by %s, which says so', (by) => {
    const path = new URL(`../${by}`, import.meta.url);
    expect(existsSync(path)).toBe(true);
    const test = readFileSync(path, 'utf8');
    const pages = CLAIMS.filter((one) => one.by === by).map(({ page }) => basename(page));
    expect(pages.filter((page) => !test.includes(page))).toEqual([]);
  });
});

/** The real command line, which does nothing once it has understood. */
function silentProgram(): Command {
  const program = idleProgram();
  const silence = (command: Command) => {
    for (const sub of command.commands) silence(sub.action(() => {}));
  };
  silence(program);
  return program;
}

describe('commands', () => {
  const commands = blocks.filter(({ language }) => language === 'sh').flatMap(commandsIn);

  it('are found', () => expect(commands.length).toBeGreaterThan(80));

  it.each(commands)('$line is understood', async ({ env, args }) => {
    await silentProgram().parseAsync(args, { from: 'user' });
    // What stands there for the address of a database is a variable of the reader's shell.
    const { DATABASE_URL_FILE: _file, ...rest } = env;
    const values = Object.entries(rest).filter(([, value]) => !value.startsWith('$'));
    loadConfig({ env: Object.fromEntries(values) });
    const names = SETTINGS.flatMap((setting) => [setting.env, `${setting.env}_FILE`]);
    expect(names).toEqual(expect.arrayContaining(Object.keys(env)));
  });
});

describe('documents', () => {
  const SCHEMAS: [page: string, schemas: z.ZodType[]][] = [
    ['docs/alerts.md', [AlertRuleBody, AlertAnswer]],
    ['docs/cli.md', [RunDueAnswer]],
    ['docs/metrics.md', [StatsAnswer]],
    ['docs/webhooks.md', [WebhookBody]],
  ];
  it.each(SCHEMAS)('of %s are what the API takes and answers', (page, schemas) => {
    const documents = blocksOf(page, 'json').map(({ text }) => JSON.parse(text) as unknown);
    expect(documents).toHaveLength(schemas.length);
    for (const [index, schema] of schemas.entries()) {
      expect(schema.safeParse(documents[index]).error?.issues ?? []).toEqual([]);
    }
  });

  it('of docs/configuration.md is a file that is read', async () => {
    const [{ text } = { text: '' }] = blocksOf('docs/configuration.md', 'json');
    const directory = await mkdtemp(join(tmpdir(), 'longshore-config-'));
    onTestFinished(async () => await rm(directory, { recursive: true }));
    await writeFile(join(directory, CONFIG_FILE), text);
    const { config } = loadConfig({ env: {}, directory });
    expect(config).toMatchObject({ port: 4500, concurrency: 16 });
  });
});
