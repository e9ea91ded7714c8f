import { expect, test } from 'vitest';
import { idleProgram, run } from '../../test/support/cli.ts';
import { HELP_EXAMPLES } from './text/help-examples.ts';

const program = idleProgram();

const examples = Object.entries(HELP_EXAMPLES).flatMap(([name, lines]) =>
  lines.map((line) => [line, name] as const),
);

test.each(examples)('%s has only commands and flags that are there', (line, name) => {
  const words = line.replace(/^.*?\blongshore /, '').split(/[\s)]+/);
  expect(words[0]).toBe(name);
  const command = program.commands.find((one) => one.name() === name);
  const sub = command?.commands.find((one) => one.name() === words[1]);
  const known = [program, command, sub].flatMap((one) => one?.options ?? []);
  for (const flag of words.filter((word) => /^--./.test(word))) {
    expect(known.map(({ long }) => long)).toContain(flag);
  }
});

test('examples can be copied where Longshore is a dependency of a project', () => {
  const lines = examples.filter(([, name]) => name !== 'completion').map(([line]) => line);
  expect(lines.filter((line) => !/^([A-Z_]+=\S+ )?npx longshore /.test(line))).toEqual([]);
});

test('the help of a command ends with its examples, that of all is in groups', async () => {
  expect((await run(['enqueue', '--help'])).stdout).toMatch(
    /\nExamples:\n {2}npx longshore enqueue/,
  );
  const { stdout } = await run(['--help']);
  const groups = [...stdout.matchAll(/^(\S.*):$/gm)].map(([, group]) => group);
  expect(groups).toEqual([
    'Options',
    'Getting started',
    'Run a server',
    'Jobs',
    'Deployed code',
    'Operations',
    'Command line',
    'Exit codes',
  ]);
  expect(stdout).not.toContain('complete [words');
});

test.each([
  ['bulk', 'retry'],
  ['limits', 'tenant'],
])('help %s %s is the help of the subcommand', async (command, sub) => {
  const { stdout } = await run(['help', command, sub]);
  expect(stdout).toContain(`Usage: longshore ${command} ${sub} `);
  expect(stdout).toBe((await run([command, sub, '--help'])).stdout);
});

const paths = program.commands.flatMap((command) => [
  [command.name()],
  ...command.commands.map((sub) => [command.name(), sub.name()]),
]);

test.each([[[]], ...paths.map((path) => [path])])('%j --help fits 80 columns', async (path) => {
  const { stdout } = await run([...path, '--help']);
  expect(stdout).toMatch(/^Usage: /);
  expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
});
