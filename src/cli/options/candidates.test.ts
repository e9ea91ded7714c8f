import { expect, test } from 'vitest';
import { idleProgram } from '../../../test/support/cli.ts';
import { JOB_STATES } from '../../core/job/job.ts';
import { candidates } from './candidates.ts';

const program = idleProgram();
const ask = { definitionKeys: async () => ['hello', 'help.me', 'image.resize'] };

test.each([
  ['a command', ['sched'], ['scheduler', 'schedules']],
  ['a command below another', ['schedules', 'p'], ['preview', 'pause']],
  ['no hidden command', ['complet'], ['completion']],
  ['a flag of the command', ['logs', '--f'], ['--follow']],
  ['a flag of every command', ['schedules', 'list', '--no-c'], ['--no-color']],
  ['a setting of a role', ['worker', '--concurr'], ['--concurrency']],
  ['the values of a flag', ['list', '--status', 'ca'], ['cancelling', 'cancelled']],
  ['the values of an argument', ['completion', ''], ['bash', 'zsh', 'fish']],
  ['what the server knows', ['enqueue', 'hel'], ['hello', 'help.me']],
  ['what the server knows, for a flag', ['list', '--definition', 'i'], ['image.resize']],
  ['the same after a flag with a value', ['enqueue', '--priority', '5', 'im'], ['image.resize']],
  ['nothing where anything may come', ['enqueue', 'hello', '{'], []],
  ['nothing for a free value', ['enqueue', '--priority', ''], []],
])('offers %s', async (_, words, expected) => {
  expect((await candidates(program, words, ask)).map(({ value }) => value)).toEqual(expected);
});

test('offers all states, and says what commands are for', async () => {
  const states = await candidates(program, ['list', '--status', ''], ask);
  expect(states.map(({ value }) => value)).toEqual([...JOB_STATES]);
  expect(await candidates(program, ['doct'], ask)).toEqual([
    { value: 'doctor', about: 'check whether a server can run here' },
  ]);
});
