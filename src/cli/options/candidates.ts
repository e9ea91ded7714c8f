import type { Command, Option } from 'commander';
import { JOB_STATES } from '../../core/job/job.ts';

/** A completion. */
export interface Candidate {
  value: string;
  about: string;
}

/** Completions from the server; empty if it is unreachable. */
export interface Asker {
  definitionKeys(): Promise<string[]>;
}

/** Completions for the given words, the last of which may be incomplete. */
export async function candidates(
  program: Command,
  words: readonly string[],
  ask: Asker,
): Promise<Candidate[]> {
  const typed = words.at(-1) ?? '';
  const { command, position, option } = where(program, words.slice(0, -1));
  return (await following(command, position, option, typed, ask)).filter(({ value }) =>
    value.startsWith(typed),
  );
}

interface CursorContext {
  command: Command;
  /** Number of arguments already given. */
  position: number;
  /** The option whose value is being typed. */
  option: Option | undefined;
}

function where(program: Command, words: readonly string[]): CursorContext {
  let command = program;
  let position = 0;
  let option: Option | undefined;
  for (const word of words) {
    if (option) {
      option = undefined;
    } else if (word.startsWith('-')) {
      const found = optionsOf(command).find(({ long, short }) => word === long || word === short);
      option = found?.required ? found : undefined;
    } else {
      const sub = command.commands.find((one) => one.name() === word);
      if (sub) [command, position] = [sub, 0];
      else position += 1;
    }
  }
  return { command, position, option };
}

async function following(
  command: Command,
  position: number,
  option: Option | undefined,
  typed: string,
  ask: Asker,
): Promise<Candidate[]> {
  if (option) return await valuesOf(option.attributeName(), option.argChoices, ask);
  if (typed.startsWith('-')) {
    return optionsOf(command).flatMap(({ long, hidden, description }) =>
      long && !hidden ? [{ value: long, about: description }] : [],
    );
  }
  const help = command.createHelp();
  const argument = command.registeredArguments[position];
  const values = argument ? await valuesOf(argument.name(), argument.argChoices, ask) : [];
  const subs = help.visibleCommands(command).map((sub) => ({
    value: sub.name(),
    about: help.subcommandDescription(sub),
  }));
  return position === 0 ? [...subs, ...values] : values;
}

/** The options of a command, including the global ones. */
function optionsOf(command: Command): Option[] {
  return command.parent ? [...command.options, ...optionsOf(command.parent)] : [...command.options];
}

async function valuesOf(
  name: string,
  choices: readonly string[] | undefined,
  ask: Asker,
): Promise<Candidate[]> {
  const known = choices ?? (await knownValues(name, ask));
  return known.map((value) => ({ value, about: '' }));
}

async function knownValues(name: string, ask: Asker): Promise<readonly string[]> {
  if (name === 'status') return JOB_STATES;
  return name === 'key' || name === 'definitionKey' ? await ask.definitionKeys() : [];
}
