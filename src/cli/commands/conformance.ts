import type { Command } from 'commander';
import { ownEnvironment } from '../../config/environment.ts';
import type { Finding, Named } from '../../conformance/check.ts';
import type { Cli } from '../cli.ts';
import { exitCode } from '../exit-codes.ts';
import { whole } from '../options/option-values.ts';
import { configOf, outputOf } from '../session.ts';
import type { Output } from '../text/output.ts';
import { printable } from '../../core/values/printable.ts';

interface WorkerOptions {
  rule?: number;
  port?: number;
  leaseMs?: number;
}

interface ServerOptions {
  definition?: string;
  rule?: number;
}

export function addConformance(program: Command, cli: Cli): void {
  const group = program
    .command('conformance')
    .summary('check a worker or a server of the protocol for remote workers')
    .description(
      'Check that a worker over HTTP, or a server for such workers, follows the rules of ' +
        'docs/operate/remote-workers.md: for authors of workers in other languages.',
    );
  group
    .command('worker')
    .summary('play the server for a worker')
    .description(
      'Play the server for a worker that serves conformance.echo, conformance.fail and ' +
        'conformance.wait: give it jobs, spoil answers, and check what it does. Takes about a minute.',
    )
    .argument('[command...]', 'starts the worker; without it, waits for one')
    .option('--port <port>', 'port to listen on; default any free port', whole)
    .option('--lease-ms <ms>', 'lease of the worker; default 3000', whole)
    .option('--rule <number>', 'only the checks of this rule', whole)
    .action(async (command: string[], options: WorkerOptions, self: Command) => {
      const out = outputOf(cli, self);
      const { checkWorker } = await import('../../conformance/worker/check-worker.ts');
      const stop = new AbortController();
      cli.onSignal = () => stop.abort();
      const findings = await checkWorker({
        port: options.port ?? 0,
        leaseMs: options.leaseMs ?? 3_000,
        command,
        picks: picksOf(options),
        env: cli.env ?? ownEnvironment(),
        output: cli.stderr,
        clock: cli.clock,
        signal: stop.signal,
        onStart: (variables) => {
          if (command.length > 0) return;
          out.note('Start a worker with these variables:');
          out.note(...Object.entries(variables).map(([name, value]) => `${name}=${value}`));
        },
        onFinding: (finding) => printOne(out, finding),
      });
      conclude(cli, out, findings);
    });
  group
    .command('server')
    .summary('play a worker for a server')
    .description(
      'Play workers for the server at --url, with the key in LONGSHORE_API_KEY. It needs the scope ' +
        'worker, and jobs:write, jobs:read and operate for all checks. Its jobs are real.',
    )
    .option('--definition <key>', 'definition of its jobs; default conformance.RANDOM')
    .option('--rule <number>', 'only the checks of this rule', whole)
    .action(async (options: ServerOptions, self: Command) => {
      const out = outputOf(cli, self);
      const { url, apiKey } = configOf(cli, self, 'client').config;
      const { checkServer } = await import('../../conformance/server/check-server.ts');
      const findings = await checkServer({
        url,
        apiKey,
        definition: options.definition ?? null,
        picks: picksOf(options),
        onAsk: (key) => out.trouble(`This key may not enqueue. Run: ${out.next(`enqueue ${key}`)}`),
        onFinding: (finding) => printOne(out, finding),
      });
      conclude(cli, out, findings);
    });
}

function picksOf({ rule: only }: { rule?: number }) {
  return ({ rule }: Named) => only === undefined || rule === only;
}

const COLORS = { ok: 'green', failed: 'red', skipped: 'yellow' } as const;

function printOne(out: Output, { rule, check, status, detail }: Finding): void {
  if (out.json) return;
  const line = `${out.paint(COLORS[status], status.padEnd(8))}rule ${rule}  ${check}`;
  out.lines(detail === null ? [line] : [line, `        ${printable(detail)}`]);
}

function conclude(cli: Cli, out: Output, findings: readonly Finding[]): void {
  const count = (wanted: Finding['status']) =>
    findings.filter(({ status }) => status === wanted).length;
  if (out.json) out.document({ findings });
  const skipped = count('skipped') > 0 ? `, ${count('skipped')} skipped` : '';
  out.note(`${count('ok')} ok, ${count('failed')} failed${skipped}.`);
  if (count('failed') > 0) cli.exitCode = exitCode('failed');
}
