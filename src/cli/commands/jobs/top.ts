import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { type Longshore, ServerUnreachable, Unavailable } from '../../../client/index.ts';
import { readSeen } from '../../../client/problems/seen.ts';
import { problemsOf } from '../../../core/problems/problems.ts';
import type { Cli } from '../../cli.ts';
import { exitCode } from '../../exit-codes.ts';
import { secondsAsMs } from '../../options/option-values.ts';
import type { Output } from '../../text/output.ts';
import { clientOf, outputOf } from '../../session.ts';
import { type Snapshot, topText } from '../../text/jobs/top-text.ts';

const INTERVAL_MS = 2_000;
/** Maximum number of running jobs to show. */
const LIMIT = 200;
const ROWS_UNKNOWN = 40;
/** Of a screen: its title, and the last row, in which a line break would scroll. */
const ROWS_TAKEN = 3;
/** Of the sparklines. */
const SERIES_MINUTES = 20;

/** Alternate screen, so that the previous content is restored at the end. */
const ENTER = '\u001b[?1049h\u001b[?25l';
const LEAVE = '\u001b[?25h\u001b[?1049l';
const HOME = '\u001b[H\u001b[J';

export function addTop(program: Command, cli: Cli): void {
  interface Options {
    interval?: number;
    once?: true;
  }
  program
    .command('top')
    .summary('watch running jobs')
    .description(
      'Show issues, workers, queues and running jobs: live on a terminal, otherwise once.',
    )
    .option('--interval <seconds>', 'refresh interval; default 2', secondsAsMs)
    .option('--once', 'print once, even on a terminal')
    .action(async ({ interval = INTERVAL_MS, once }: Options, command: Command) => {
      const out = outputOf(cli, command);
      const client = clientOf(cli, command);
      if (!once && !out.json && out.isScreen) {
        return await watch(cli, out, client, Math.max(100, interval));
      }
      const seen = await look(client, cli.clock.now());
      if (out.json) out.document(seen);
      else out.lines(topText(seen, cli.clock.now(), out.width, null, out.next));
    });
}

async function look(client: Longshore, now: Date): Promise<Snapshot> {
  const [seen, { jobs: running }, { at, totals, definitions, throughput }] = await Promise.all([
    readSeen(client, now, { withWebhooks: true }),
    client.list({ status: ['running', 'cancelling'], limit: LIMIT }),
    client.stats({ seriesMinutes: SERIES_MINUTES }),
  ]);
  const issues = problemsOf(seen, now);
  return { at, issues, workers: seen.workers, running, totals, definitions, throughput };
}

/** Runs until Ctrl-C. While the server is unreachable, shows the error and retries. */
async function watch(cli: Cli, out: Output, client: Longshore, intervalMs: number): Promise<void> {
  const stop = new AbortController();
  cli.onSignal = () => stop.abort();
  const { stdout } = cli;
  stdout.write(ENTER);
  try {
    while (!stop.signal.aborted) {
      const rows = 'rows' in stdout && typeof stdout.rows === 'number' ? stdout.rows : ROWS_UNKNOWN;
      const lines = await frame(cli, out, client, Math.max(1, rows - ROWS_TAKEN));
      stdout.write(`${HOME}${lines.slice(0, rows - 1).join('\r\n')}`);
      await pause(intervalMs, undefined, { signal: stop.signal }).catch(() => undefined);
    }
  } finally {
    stdout.write(LEAVE);
  }
  cli.exitCode = exitCode('interrupted');
}

async function frame(cli: Cli, out: Output, client: Longshore, rows: number): Promise<string[]> {
  const now = cli.clock.now();
  const title = (at: string) => out.paint('bold', `longshore top   ${at}   Ctrl-C ends`);
  try {
    const seen = await look(client, now);
    return [title(`counts of ${seen.at}`), '', ...topText(seen, now, out.width, rows, out.next)];
  } catch (error) {
    if (!(error instanceof ServerUnreachable) && !(error instanceof Unavailable)) throw error;
    return [title(now.toISOString()), '', out.paint('yellow', `${error.message}; retrying`)];
  }
}
