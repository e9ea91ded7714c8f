import { describe, expect, test } from 'vitest';
import { run } from '../../../../test/support/cli.ts';

describe('plan', () => {
  const plan = async (...args: string[]) => await run(['plan', ...args]);

  test('prints what a load needs, and what each part of a job costs', async () => {
    const { code, stdout } = await plan('--jobs-per-day', '10M', '--seconds', '2');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Jobs +10,000,000 a day +116 a second, 231 at the peak$/m);
    expect(stdout).toMatch(
      /^Worker slots +579 +in 6 processes of 100; a job runs 2 s \(process\)$/m,
    );
    expect(stdout).toMatch(/^plain job +\d/m);
    expect(stdout).not.toMatch(/^webhooks/m);
    expect(stdout).toContain('One PostgreSQL of this size is enough.');
  });

  test('says when one PostgreSQL is not enough, and what Longshore supports', async () => {
    const { stdout } = await plan('--jobs-per-day', '1e9', '--params', '10kB');
    expect(stdout).toContain('is not enough: the disk is the limit');
    expect(stdout).toContain('Longshore runs on one PostgreSQL');
    expect(stdout).toContain('Citus and other distributed databases are not supported yet');
  });

  test('takes shares as a number, a percentage or nothing, and prints JSON', async () => {
    const flags = ['--webhooks', '5%', '--unique', '--tags', '0.5', '--logs', '10', '--json'];
    const { stdout } = await plan('--jobs-per-day', '1e6', ...flags);
    expect(JSON.parse(stdout)).toMatchObject({
      workload: { jobsPerDay: 1e6, webhooks: 0.05, unique: 1, tags: 0.5, logLines: 10 },
      database: { machines: 1 },
    });
  });

  test.each([
    [[], '--jobs-per-day <count> is missing'],
    [['--jobs-per-day', 'lots'], 'Must be a number such as 1000000, 1e6 or 10M.'],
    [['--jobs-per-day', '0'], 'Must be at least 1.'],
    [['--jobs-per-day', '1e6', '--params', '2kg'], 'did you mean "kb"? Write a number such as'],
    [['--jobs-per-day', '1e6', '--retention', 'long'], 'Must be a duration such as 7d'],
    [['--jobs-per-day', '1e6', '--failures', '7'], 'Must be a share from 0 to 1'],
    [['--jobs-per-day', '1e6', '--isolation', 'proces'], 'did you mean "process"?'],
    [['--jobs-per-day', '1e6', '--webhook'], 'did you mean --webhooks?'],
  ])('refuses %o and says what to do', async (args, message) => {
    const { code, stderr } = await plan(...args);
    expect(code).not.toBe(0);
    expect(stderr).toContain(message);
  });
});
