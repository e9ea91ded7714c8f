import type { Command } from 'commander';
import { readSeen } from '../../../client/problems/seen.ts';
import { problemsOf } from '../../../core/problems/problems.ts';
import type { Cli } from '../../cli.ts';
import { exitCode } from '../../exit-codes.ts';
import { clientOf, outputOf } from '../../session.ts';
import { issueLines } from '../../text/jobs/issue-text.ts';

export function addIssues(program: Command, cli: Cli): void {
  program
    .command('issues')
    .summary('list what needs attention')
    .description('List the problems of the overview, worst first. Exits with 1 if there are any.')
    .allowExcessArguments(false)
    .action(async (_options: unknown, command: Command) => {
      const out = outputOf(cli, command);
      const now = cli.clock.now();
      const found = problemsOf(
        await readSeen(clientOf(cli, command), now, { withWebhooks: true }),
        now,
      );
      if (found.length > 0) cli.exitCode = exitCode('failed');
      if (out.json) {
        const issues = found.map(({ kind, about, text, owner, target }) => {
          return { kind, about, text, owner, target };
        });
        return out.document({ issues });
      }
      if (found.length === 0) out.note('No issues.');
      else out.lines(issueLines(found, out.next));
    });
}
