import { expect, it } from 'vitest';
import { startBlock } from './start-block.ts';

const summary = {
  database: 'PostgreSQL 18.4',
  address: 'http://127.0.0.1:4700',
  problems: [],
  slots: 8,
};
const block = (...keys: string[]) =>
  startBlock('start', { ...summary, definitions: keys.map((key) => ({ key, version: 1 })) });

it('names a command that works: the params of other definitions than hello are not known', () => {
  expect(block('account.approve', 'hello').slice(-2)).toEqual([
    `  curl -sS http://127.0.0.1:4700/v1/jobs -H 'content-type: application/json' -d '{"definitionKey":"hello"}'`,
    '  npx longshore show ID --url http://127.0.0.1:4700',
  ]);
  expect(block('account.approve').slice(-2)).toEqual([
    '  npx longshore definitions --url http://127.0.0.1:4700',
    '  npx longshore enqueue KEY PARAMS --wait --url http://127.0.0.1:4700',
  ]);
});

it('names an address to go to where the server listens on all', () => {
  const definitions = [{ key: 'hello', version: 1 }];
  const lines = (address: string) => startBlock('start', { ...summary, address, definitions });
  const four = lines('http://0.0.0.0:4700').join('\n');
  expect(four).toContain('address       http://0.0.0.0:4700\n');
  expect(four).toContain('dashboard     http://127.0.0.1:4700/ui/');
  expect(four).toContain('curl -sS http://127.0.0.1:4700/v1/jobs');
  expect(four).toContain('show ID --url http://127.0.0.1:4700');
  expect(lines('http://[::]:4700').at(-1)).toContain('--url http://[::1]:4700');
});

it('does not ask for files that exist but could not be loaded', () => {
  const problem = 'jobs/a.ts: SyntaxError: Unexpected end of input';
  const lines = startBlock('start', { ...summary, definitions: [], problems: [problem] });
  expect(lines).toContain('  definitions   none could be loaded (see below)');
  expect(lines).toContain(`  problem       ${problem}`);
  expect(block().join()).toContain('none yet: put a file that calls defineJob');
});
