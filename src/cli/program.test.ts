import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { idleProgram } from '../../test/support/cli.ts';
import { flagOf, SETTINGS } from '../config/schema.ts';
import { EXIT_CODES } from './exit-codes.ts';

const page = readFileSync(new URL('../../docs/cli.md', import.meta.url), 'utf8');
const program = idleProgram();

/** From the heading of a command to the next heading. */
function sectionOf(command: Command): string {
  return page.split(`\n### ${command.name()}\n`)[1]?.split(/\n##/)[0] ?? '';
}

describe('docs/cli.md', () => {
  test('has a section for each command, and for nothing else', () => {
    const sections = [...page.matchAll(/^### (\S+)$/gm)].map(([, name]) => name);
    const commands = program.commands.map((command) => command.name());
    expect(new Set(sections)).toEqual(new Set(commands));
    expect(sections).toHaveLength(commands.length);
  });

  test.each(program.commands.map((command) => [command.name(), command] as const))(
    '%s has an example and all of its flags',
    (name, command) => {
      const section = sectionOf(command);
      expect(section).toContain(`longshore ${name}`);
      const settings = SETTINGS.map(flagOf);
      const flags = [command, ...command.commands].flatMap(({ options }) =>
        options.map((option) => option.long ?? ''),
      );
      for (const sub of command.commands) expect(section).toContain(`\`${name} ${sub.name()}\``);
      for (const flag of flags) {
        // Settings are in configuration.md, which is written from the same table.
        if (!settings.includes(flag)) expect(section).toContain(`\`${flag}\``);
      }
    },
  );

  test('has the flags of every command', () => {
    for (const option of program.options) expect(page).toContain(`\`${option.long}\``);
  });

  test('has the exit codes', () => {
    const rows = [...page.matchAll(/^\| (\d+) \| (.*) \|$/gm)];
    const documented = rows.map(([, code, meaning]) => ({ code: Number(code), meaning }));
    expect(documented).toEqual(Object.values(EXIT_CODES));
  });
});
