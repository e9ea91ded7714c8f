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
import { AlertRouteBody } from '../src/protocol/alert-route.ts';
import { RunDueAnswer } from '../src/protocol/run-due.ts';
import { ScaleAnswer } from '../src/protocol/answers/scale-answer.ts';
import { SeriesAnswer } from '../src/protocol/answers/series-answer.ts';
import { StatsAnswer } from '../src/protocol/answers/stats-answer.ts';
import { WebhookBody } from '../src/protocol/requests/webhook-body.ts';
import { BudgetAnswer, BudgetBody, UsageAnswer } from '../src/protocol/usage.ts';
import { idleProgram, run } from './support/cli.ts';
import { type Block, blocksOf, commandsIn, PAGES } from './support/checks/docs-blocks.ts';

/**
 * Every block of the README and of docs/ is run by a test. This one runs next to nothing: it knows who
 * does, and fails for a block that no test claims. All TypeScript is held against the real types besides,
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
  claim('browser/newcomer', 'README.md', 'sh', '> prices.json'),
  claim('browser/newcomer', 'README.md', 'sh', 'npx longshore list --status succeeded'),
  claim('browser/newcomer', 'README.md', 'ts', '// jobs/total.ts'),
  claim('integration/docs/docs-commands', 'README.md', 'sh', 'curl'),
  claim('integration/docs/docs-commands', 'README.md', 'sh', 'npx longshore enqueue flaky'),
  claim('integration/docs/docs-scripts', 'README.md', 'ts', '// jobs/resize.ts'),
  claim('integration/docs/docs-scripts', 'README.md', 'ts', 'job.logs('),
  claim('integration/docs/docs-scripts', 'README.md', 'ts', 'createLongshore('),
  claim('integration/docs/docs-examples', 'README.md', 'ts', "key: 'report'"),
  claim('integration/docs/docs-commands', 'docs/operate/alerts.md', 'sh'),
  claim('docs-blocks', 'docs/operate/alerts.md', 'json'),
  claim('integration/docs/docs-examples', 'docs/cancelling.md', 'ts'),
  claim('integration/docs/docs-commands', 'docs/cli.md', 'sh'),
  claim('docs-blocks', 'docs/cli.md', 'json'),
  claim('docs-blocks', 'docs/configuration.md', 'json'),
  claim('e2e/deployments/deploy-walk', 'docs/deployments.md', 'sh', 'longshore '),
  claim('e2e/deployments/deploy-walk', 'docs/deployments.md', 'sh', 'curl'),
  claim('e2e/deployments/deploy-walk', 'docs/deployments.md', 'json'),
  claim('integration/docs/enqueueing-page', 'docs/enqueueing.md', 'ts'),
  claim('integration/docs/enqueueing-page', 'docs/guides/debounce.md', 'ts'),
  claim('integration/docs/docs-examples', 'docs/guides/streams.md', 'ts'),
  claim('integration/docs/docs-examples', 'docs/guides/evolving-params.md', 'ts'),
  claim('e2e/failures', 'docs/failures.md', 'ts'),
  claim('e2e/failures', 'docs/failures.md', 'sh'),
  claim('integration/docs/moving-pages', 'docs/moving/from-bullmq.md', 'ts'),
  claim('integration/docs/moving-pages', 'docs/moving/from-pg-boss.md', 'ts'),
  claim('integration/docs/moving-pages', 'docs/moving/from-sidekiq.md', 'ts'),
  // Flags are read below, and integration/import runs the import.
  claim('docs-blocks', 'docs/moving/from-bullmq.md', 'sh'),
  claim('docs-blocks', 'docs/moving/from-pg-boss.md', 'sh'),
  claim('integration/store/queue-position', 'docs/internals.md', 'sql'),
  claim('integration/docs/docs-examples', 'docs/limits.md', 'ts'),
  claim('integration/docs/docs-commands', 'docs/limits.md', 'sh'),
  claim('e2e/brokers/message-brokers-page', 'docs/message-brokers.md', 'sh', 'longshore ingest'),
  claim('e2e/brokers/message-brokers-page', 'docs/message-brokers.md', 'sh', 'broker://rabbit'),
  claim('e2e/brokers/message-brokers-page', 'docs/message-brokers.md', 'sh', 'broker://events'),
  claim('e2e/brokers/message-brokers-page', 'docs/message-brokers.md', 'ts'),
  claim('e2e/brokers/message-brokers-page', 'docs/message-brokers.md', 'json'),
  // Flags are read below, and e2e/mcp starts such servers.
  claim('docs-blocks', 'docs/operate/mcp.md', 'sh', 'longshore mcp --allow-write'),
  claim('docs-blocks', 'docs/operate/mcp.md', 'sh', 'longshore mcp --http'),
  claim('docs-blocks', 'docs/operate/mcp.md', 'sh', 'longshore keys create'),
  claim('e2e/mcp/mcp', 'docs/operate/mcp.md', 'json'),
  claim('integration/worker/job-log', 'docs/operate/logging.md', 'json'),
  claim('docs-blocks', 'docs/operate/metrics.md', 'json'),
  claim('integration/docs/docs-commands', 'docs/operate/usage.md', 'sh'),
  claim('docs-blocks', 'docs/operate/usage.md', 'json'),
  // A server with settings: flags and settings are read below, and other tests start servers.
  claim('docs-blocks', 'docs/operate/poolers.md', 'sh'),
  claim('integration/database/pooler', 'docs/operate/poolers.md', 'sql'),
  claim('e2e/remote-worker', 'docs/operate/remote-workers.md', 'sh', 'keys create --scope worker'),
  claim('e2e/remote-worker', 'docs/operate/remote-workers.md', 'sh', 'keys create --tenant acme'),
  claim('e2e/remote-worker', 'docs/operate/remote-workers.md', 'sh', 'longshore worker --url'),
  claim('e2e/conformance', 'docs/operate/remote-workers.md', 'sh', 'longshore conformance'),
  // They are held against those of the README, which the newcomer runs.
  claim('docs-pages', 'docs/quick-start.md', 'sh'),
  claim('docs-pages', 'docs/quick-start.md', 'ts'),
  claim('e2e/schedules', 'docs/schedules.md', 'sh'),
  claim('e2e/schedules', 'docs/schedules.md', 'ts', 'schedules.create('),
  claim('integration/docs/docs-examples', 'docs/schedules.md', 'ts', 'defineJob('),
  claim('e2e/deployments/job-secrets', 'docs/secrets.md', 'sh', 'longshore secrets'),
  claim('e2e/deployments/job-secrets', 'docs/secrets.md', 'ts'),
  claim('e2e/deployments/job-secrets', 'docs/secrets.md', 'python'),
  claim('docs-blocks', 'docs/operate/capacity.md', 'sh'),
  claim('docs-blocks', 'docs/operate/scaling.md', 'json'),
  // Likewise; e2e/worker-fleet starts such servers.
  claim('docs-blocks', 'docs/operate/scaling.md', 'sh'),
  claim('e2e/batteries/ready-made-jobs', 'docs/ready-made-jobs.md', 'ts'),
  claim('e2e/batteries/ready-made-jobs', 'docs/ready-made-jobs.md', 'sh'),
  claim('integration/docs/docs-scripts', 'docs/sdk.md', 'ts'),
  claim('docs-blocks', 'docs/sdk.md', 'json'),
  claim('integration/docs/docs-commands', 'docs/operate/security.md', 'sh', 'longshore keys'),
  claim('integration/http/sign-in', 'docs/operate/sign-in.md', 'sh'),
  claim('integration/docs/docs-scripts', 'docs/testing.md', 'ts'),
  // Likewise.
  claim('docs-blocks', 'docs/operate/tracing.md', 'sh'),
  claim('integration/docs/docs-scripts', 'docs/transactions.md', 'ts'),
  claim('integration/docs/docs-scripts', 'docs/transactions.md', 'sql'),
  claim('integration/docs/docs-scripts', 'docs/operate/webhooks.md', 'ts'),
  claim('integration/docs/docs-commands', 'docs/operate/webhooks.md', 'sh'),
  claim('docs-blocks', 'docs/operate/webhooks.md', 'json'),
  claim('integration/docs/docs-examples', 'docs/writing-jobs.md', 'ts'),
  claim('integration/docs/docs-examples', 'docs/writing-jobs.md', 'python'),
  claim('integration/docs/docs-examples', 'docs/waiting.md', 'ts', 'docs.welcome'),
  claim('e2e/waits/waits', 'docs/waiting.md', 'ts', '// jobs/refund.ts'),
  claim('e2e/waits/waits', 'docs/waiting.md', 'ts', '// jobs/refund-by-link.ts'),
  claim('e2e/waits/waits', 'docs/waiting.md', 'sh'),
  claim('e2e/large/large-values', 'docs/guides/large-values.md', 'ts'),
  claim('e2e/large/large-values', 'docs/guides/large-values.md', 'sh'),
  claim('integration/docs/docs-examples', 'docs/guides/grouping.md', 'ts'),
  // The commands are checked here; e2e/waits/grouping starts such a worker.
  claim('docs-blocks', 'docs/guides/grouping.md', 'sh'),
  claim('e2e/waits/dependencies', 'docs/guides/dependencies.md', 'ts'),
  claim('e2e/waits/dependencies', 'docs/guides/dependencies.md', 'sh'),
  claim('e2e/waits/children', 'docs/guides/children.md', 'ts'),
  claim('e2e/waits/children', 'docs/guides/children.md', 'sh'),
  claim('e2e/waits/batches', 'docs/guides/batches.md', 'ts'),
  claim('e2e/waits/batches', 'docs/guides/batches.md', 'sh'),
];

/** Shown and not run, each for a reason. */
const SHOWN: [page: string, holding: string, why: string][] = [
  ['README.md', 'npm ci && npm start', 'it needs a registry; e2e/start starts the same server'],
  ['README.md', 'npm ci && npm test', 'it is what runs this test'],
  ['docs/sdk.md', 'new EventSource(', 'it runs in a page; its server is run, and read to the end'],
  ['docs/sdk.md', 'npm pack', 'it needs a registry; e2e/pack installs the same file'],
  [
    'docs/operate/embedded-postgres.md',
    'psql',
    'the client tools of PostgreSQL 18 are not installed',
  ],
  [
    'docs/operate/embedded-postgres.md',
    'pg_dump',
    'the client tools of PostgreSQL 18 are not installed',
  ],
  [
    'docs/deployments.md',
    's3://my-bucket',
    'it names a bucket of someone; src/artifacts/storage.test has an S3 server',
  ],
  ['docs/moving/from-sidekiq.md', 'class ChargeJob', 'there is no Ruby here'],
  ['docs/moving/from-sidekiq.md', 'ChargeJob.perform_async', 'there is no Ruby here'],
  [
    'docs/message-brokers.md',
    'npm install amqplib',
    'it needs a registry; e2e/brokers has a RabbitMQ and a cluster for Kafka',
  ],
  [
    'docs/operate/mcp.md',
    'npm install @modelcontextprotocol',
    'it needs a registry; e2e/mcp has the SDK',
  ],
  [
    'docs/operate/mcp.md',
    'claude mcp add',
    'Claude Code is not installed; e2e/mcp starts what it starts',
  ],
  ['docs/operate/metrics.md', 'scrape_configs:', 'there is no Prometheus here to read it'],
  [
    'docs/operate/redis.md',
    'npm install redis',
    'it needs a registry; integration/redis-server has workers with a Redis',
  ],
  [
    'docs/operate/security.md',
    'openssl rand',
    'openssl may be missing; integration/encryption has keys',
  ],
  [
    'docs/secrets.md',
    'openssl rand',
    'openssl may be missing; e2e/deployments/job-secrets has keys',
  ],
  [
    'docs/operate/tracing.md',
    '// tracing.ts',
    'its exporter wants a collector; its types are checked',
  ],
];

const RUNNABLE = ['ts', 'js', 'sh', 'sql', 'json', 'yaml', 'python', 'ruby'];
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

  it('can be typed in a project', () => {
    const bare = blocks
      .filter(({ language }) => language === 'sh')
      .flatMap(commandsIn)
      // Completion is for an installed `longshore`.
      .filter(({ line }) => !line.includes('npx longshore ') && !line.startsWith("echo 'source"));
    expect(bare.map(({ line }) => line)).toEqual([]);
  });

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

describe('the commands of docs/operate/capacity.md', () => {
  const all = blocksOf('docs/operate/capacity.md');
  const shown = all.flatMap((block, index) =>
    commandsIn(block).map(({ line, args }) => ({ line, args, below: all[index + 1] })),
  );

  it('are found', () => expect(shown.length).toBeGreaterThan(4));

  it.each(shown)('$line prints what stands below it; npm run docs writes it', async (one) => {
    const { stdout } = await run(one.args);
    expect(one.below).toMatchObject({ language: '', text: stdout });
  });
});

describe('documents', () => {
  const SCHEMAS: [page: string, schemas: z.ZodType[]][] = [
    ['docs/operate/alerts.md', [AlertRuleBody, AlertRouteBody, AlertAnswer]],
    ['docs/cli.md', [RunDueAnswer]],
    ['docs/operate/metrics.md', [StatsAnswer, SeriesAnswer]],
    ['docs/operate/scaling.md', [ScaleAnswer]],
    ['docs/operate/usage.md', [UsageAnswer, BudgetBody, BudgetAnswer]],
    ['docs/operate/webhooks.md', [WebhookBody]],
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
