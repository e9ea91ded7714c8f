/**
 * Asks the real tools what they think of our metrics, rules and dashboard: `npm run check:prometheus`.
 * A real server with jobs that succeed, fail, are retried and lose their worker is scraped by a real
 * Prometheus, by the configuration in deploy/ with other addresses; every panel must then show
 * something. It takes about a minute.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';
import { startTroubled, type Troubled } from '../test/support/checks/metrics-trouble.ts';
import { endAll } from '../test/support/processes.ts';
import { TestPrometheus } from '../test/support/servers/prometheus.ts';
import { until } from '../test/support/until.ts';

const DEPLOY = fileURLToPath(new URL('../deploy/', import.meta.url));
const RULES = join(DEPLOY, 'prometheus/rules.yaml');
const deployed = (name: string) => readFileSync(join(DEPLOY, name), 'utf8');

const say = (words: string) => process.stdout.write(`${words}\n`);

function needTools(): void {
  for (const tool of ['promtool', 'prometheus']) {
    if (spawnSync(tool, ['--version']).error === undefined) continue;
    process.stderr.write(
      `${tool} is missing. On Debian or Ubuntu: apt-get install --no-install-recommends prometheus. ` +
        'Elsewhere take both programs from https://prometheus.io/download and put them on the PATH.\n',
    );
    process.exit(1);
  }
}

/** A tool that is not content says why on either stream; both are shown. */
function promtool(args: readonly string[], input?: string): void {
  const { status, stdout, stderr } = spawnSync('promtool', args, { input, encoding: 'utf8' });
  if (status !== 0 || stderr.includes('WARNING')) {
    throw new Error(`promtool ${args.join(' ')}:\n${stdout}${stderr}`);
  }
  say(`promtool ${args.slice(0, 2).join(' ')}: content`);
}

interface ScrapeConfig {
  job_name: string;
  dns_sd_configs?: unknown;
  static_configs?: { targets: string[] }[];
}

/** What deploy/ has, for a server that is here and jobs that take seconds. */
function configFor({ targets }: Troubled): string {
  const config = parse(deployed('prometheus/prometheus.yaml')) as {
    global: object;
    scrape_configs: ScrapeConfig[];
  };
  config.global = { scrape_interval: '1s', evaluation_interval: '1s' };
  for (const scrape of config.scrape_configs) {
    const target = targets[scrape.job_name];
    if (target === undefined) throw new Error(`${scrape.job_name} has no target in this check`);
    delete scrape.dns_sd_configs;
    scrape.static_configs = [{ targets: [target] }];
  }
  return stringify(config);
}

async function checkTargets(prometheus: TestPrometheus, { targets }: Troubled): Promise<void> {
  const seen = await until('every target was scraped', async () => {
    const known = await prometheus.targets();
    const scraped = known.filter(({ health }) => health !== 'unknown');
    return scraped.length === Object.keys(targets).length && scraped;
  });
  for (const { scrapePool, health, lastError } of seen) {
    if (health !== 'up') throw new Error(`${scrapePool} is ${health}: ${lastError}`);
  }
  say(`targets: ${seen.length} are up`);
}

async function checkRules(prometheus: TestPrometheus): Promise<void> {
  const rules = await until('every rule was evaluated', async () => {
    const seen = await prometheus.rules();
    return seen.length > 0 && seen.every(({ health }) => health !== 'unknown') && seen;
  });
  for (const { name, health, lastError } of rules) {
    if (health !== 'ok') throw new Error(`the rule ${name} is ${health}: ${lastError}`);
  }
  const asked = new Set(deployed('prometheus/rules.yaml').match(/\blongshore_\w+(\{[^}]*\})?/g));
  for (const selector of asked) {
    if ((await prometheus.seriesOf(selector)) === 0) throw new Error(`no series for ${selector}`);
  }
  say(`rules: ${rules.length} are evaluated, and ${asked.size} selectors find series`);
}

interface Panel {
  title: string;
  targets: { expr: string }[];
}

/** What a healthy server has none of: a line at zero is right there. */
const MAY_BE_ZERO = [/^max\(longshore_scheduler_lag_seconds\)$/];

async function checkPanels(prometheus: TestPrometheus): Promise<void> {
  const { panels } = JSON.parse(deployed('grafana/longshore.json')) as { panels: Panel[] };
  let open = panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ title, expr })));
  const count = open.length;
  const shows = async (expr: string) => {
    const asked = expr.replaceAll('$definition', '.*').replaceAll('$__rate_interval', '15s');
    const answers = await prometheus.query(asked);
    if (MAY_BE_ZERO.some((one) => one.test(expr))) return answers.length > 0;
    return answers.some(({ value }) => value > 0);
  };
  await until('every panel shows something', async () => {
    const shown = await Promise.all(open.map(async ({ expr }) => await shows(expr)));
    open = open.filter((_, index) => !shown[index]);
    return open.length === 0;
  }).catch((error: unknown) => {
    const silent = open.map(({ title, expr }) => `  ${title}: ${expr}`).join('\n');
    throw new Error(`these panels show nothing:\n${silent}`, { cause: error });
  });
  say(`dashboard: all ${count} expressions show something`);
}

async function checkMetrics({ targets, key }: Troubled): Promise<void> {
  for (const target of Object.values(targets)) {
    const headers = { authorization: `Bearer ${key}` };
    const text = await (await fetch(`http://${target}/metrics`, { headers })).text();
    promtool(['check', 'metrics'], text);
  }
}

needTools();
promtool(['check', 'rules', RULES]);
promtool(['test', 'rules', join(DEPLOY, 'prometheus/rules.test.yaml')]);

const folder = mkdtempSync(join(tmpdir(), 'longshore-prometheus-'));
let troubled: Troubled | null = null;
let prometheus: TestPrometheus | null = null;
try {
  troubled = await startTroubled(folder);
  const files = {
    'prometheus.yaml': configFor(troubled),
    'rules.yaml': deployed('prometheus/rules.yaml'),
    'longshore-key': troubled.key,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  promtool(['check', 'config', join(folder, 'prometheus.yaml')]);
  prometheus = await TestPrometheus.start(files);
  await checkTargets(prometheus, troubled);
  await checkMetrics(troubled);
  await troubled.makeTrouble();
  await checkPanels(prometheus);
  await checkRules(prometheus);
} finally {
  await prometheus?.remove();
  await troubled?.end();
  await endAll();
  rmSync(folder, { recursive: true, force: true });
}
