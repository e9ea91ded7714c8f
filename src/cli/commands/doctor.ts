import { hostname } from 'node:os';
import type { Command } from 'commander';
import type { Check } from '../../app/app.ts';
import type { Cli } from '../cli.ts';
import { columns } from '../text/columns.ts';
import { exitCode } from '../exit-codes.ts';
import type { Output } from '../text/output.ts';
import { printable } from '../../core/values/printable.ts';
import { configOf, outputOf } from '../session.ts';
import { addServerFlags } from '../options/setting-options.ts';

export function addDoctor(program: Command, cli: Cli): void {
  const command = program
    .command('doctor')
    .summary('check whether a server can run here')
    .description(
      'Check everything that a server with these settings needs, and print how to fix problems.',
    )
    .option('--no-probe', 'skip the probe job that tests the isolation (a few seconds)')
    .action(async ({ probe }: { probe: boolean }, self: Command) => {
      const out = outputOf(cli, self);
      const { config } = configOf(cli, self, 'server');
      const named = configOf(cli, self, 'client');
      if (named.origins.url !== 'default') {
        out.note(`This checks the machine ${hostname()}, not the server ${named.config.url}.`);
      }
      const { createLog } = await import('../../runtime/log.ts');
      const { diagnose } = await cli.loadApp();
      const checks = await diagnose(config, createLog(config.logLevel), { probe });
      if (out.json) out.document({ checks });
      else out.lines(checkLines(out, checks));
      out.note(verdict(checks));
      cli.exitCode = codeOf(checks);
    });
  addServerFlags(command);
}

const MARKS = {
  ok: { mark: '✓', color: 'green' },
  warning: { mark: '!', color: 'yellow' },
  problem: { mark: '✗', color: 'red' },
} as const;

function checkLines(out: Output, checks: readonly Check[]): string[] {
  const lines = columns(checks.map(({ name, detail }) => [name, detail]));
  return checks.flatMap(({ status, fix }, index) => {
    const { mark, color } = MARKS[status];
    const line = `${out.paint(color, mark)} ${lines[index]}`;
    return fix === null ? [line] : [line, `    → ${printable(fix)}`];
  });
}

function verdict(checks: readonly Check[]): string {
  const count = (wanted: Check['status'], word: string) => {
    const found = checks.filter(({ status }) => status === wanted).length;
    return found === 0 ? [] : [`${found} ${word}${found === 1 ? '' : 's'}`];
  };
  const found = [...count('problem', 'problem'), ...count('warning', 'warning')];
  return found.length === 0 ? 'No problems found.' : `${found.join(' and ')}.`;
}

/** Warnings are not failures. An unreachable database has its own exit code. */
function codeOf(checks: readonly Check[]): number {
  const problems = checks.filter(({ status }) => status === 'problem');
  if (problems.length === 0) return exitCode('ok');
  return exitCode(problems.some(({ name }) => name === 'database') ? 'unreachable' : 'failed');
}
