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
  [{ at: 'jobs', status: ['queued'], tenant: 'acme' }, 'list --status queued --tenant acme'],
  [{ at: 'workers' }, 'workers'],
  [{ at: 'alerts' }, 'alerts'],
  [{ at: 'usage', definitionKey: null }, 'usage'],
  [{ at: 'tenants' }, 'tenants'],
  [{ at: 'tenant', name: 'acme' }, 'issues --tenant acme'],
  [{ at: 'tenant-limit', name: 'acme' }, 'limits tenant acme --concurrency-limit NUMBER'],
  [{ at: 'definition', key: 'a' }, 'definitions a'],
  [{ at: 'dead-letters', fingerprint: null }, 'dlq groups'],
  [{ at: 'dead-letters', fingerprint: 'f' }, 'dlq list --fingerprint f'],
  [{ at: 'schedule', scheduleId: 's' }, 'schedules show s'],
])('%j is followed by a command', (target, command) => {
  expect(lineOf(target)).toBe(`a: It waits. (team) → npx longshore ${command} --url http://jobs:1`);
});

test('a line as wide as the terminal keeps its command whole, with the short id', () => {
  const target = { at: 'job', jobId: '01980000-0000-7000-8000-000000000001' } as const;
  const text = `1 failed: ${'x'.repeat(90)}`;
  const [line = ''] = issueLines(
    [{ kind: 'failed', about: 'a', text, owner: null, target }],
    (command) => nextCommand(command, {}),
    80,
  );
  expect(line).toHaveLength(80);
  expect(line).toMatch(/^a: 1 failed: x+… → npx longshore show 000000000001$/);
});
