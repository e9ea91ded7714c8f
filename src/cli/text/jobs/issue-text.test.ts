import { expect, test } from 'vitest';
import type { ProblemTarget } from '../../../core/problems/problem.ts';
import { nextCommand } from '../next-command.ts';
import { issueLines } from './issue-text.ts';

const lineOf = (target: ProblemTarget) =>
  issueLines(
    [{ kind: 'waiting', about: 'a', text: 'It waits.', owner: 'team', target }],
    (command) => nextCommand(command, { url: 'http://jobs:1' }),
  )[0];

test.each<[ProblemTarget, string]>([
  [{ at: 'job', jobId: 'j' }, 'show j'],
  [{ at: 'jobs', status: ['queued', 'running'] }, 'list --status queued --status running'],
  [{ at: 'workers' }, 'workers'],
  [{ at: 'alerts' }, 'alerts'],
  [{ at: 'usage', definitionKey: null }, 'usage'],
  [{ at: 'tenants' }, 'tenants'],
  [{ at: 'tenant', name: 'acme' }, 'issues --tenant acme'],
  [{ at: 'definition', key: 'a' }, 'definitions a'],
  [{ at: 'dead-letters', fingerprint: null }, 'dlq groups'],
  [{ at: 'dead-letters', fingerprint: 'f' }, 'dlq list --fingerprint f'],
  [{ at: 'schedule', scheduleId: 's' }, 'schedules show s'],
])('%j is followed by a command', (target, command) => {
  expect(lineOf(target)).toBe(`a: It waits. (team) → npx longshore ${command} --url http://jobs:1`);
});
