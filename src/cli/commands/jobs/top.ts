import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { type Longshore, ServerUnreachable, Unavailable } from '../../../client/index.ts';
import type { Cli } from '../../cli.ts';
import { exitCode } from '../../exit-codes.ts';
import { secondsAsMs } from '../../options/option-values.ts';
import type { Output } from '../../text/output.ts';
import { clientOf, outputOf } from '../../session.ts';
import { type Snapshot, topText } from '../../text/top-text.ts';

const INTERVAL_MS = 2_000;
/** Maximum number of running jobs to show. */
const LIMIT = 200;
const ROWS_UNKNOWN = 20;
/** Screen rows used by everything else. */
const ROWS_TAKEN = 8;

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
    .description('Show workers, queues and running jobs: live on a terminal, otherwise once.')
    .option('--interval <seconds>', 'refresh interval; default 2', secondsAsMs)
    .option('--once', 'print once, even on a terminal')
    .action(async ({ interval = INTERVAL_MS, once }: Options, command: Command) => {
      const out = outputOf(cli, command);
      const client = clientOf(cli, command);
      if (!once && !out.json && isScreen(cli.stdout)) {
        return await watch(cli, out, client, Math.max(100, interval));
      }
      const seen = await look(client);
      if (out.json) out.document(seen);
      else out.lines(topText(seen, cli.clock.now(), out.width, ROWS_UNKNOWN));
    });
}

async function look(client: Longshore): Promise<Snapshot> {
  const [workers, { jobs: running }, { totals, definitions }] = await Promise.all([
    client.workers(),
    client.list({ status: ['running', 'cancelling'], limit: LIMIT }),
    client.stats({ seriesMinutes: 1 }),
  ]);
  return { workers, running, totals, definitions };
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
  const title = out.paint('bold', `longshore top   ${now.toISOString()}   Ctrl-C ends`);
  try {
    return [title, '', ...topText(await look(client), now, out.width, rows)];
  } catch (error) {
    if (!(error instanceof ServerUnreachable) && !(error instanceof Unavailable)) throw error;
    return [title, '', out.paint('yellow', `${error.message}; retrying`)];
  }
}

function isScreen(stdout: NodeJS.WritableStream): boolean {
  return 'isTTY' in stdout && stdout.isTTY === true;
}
