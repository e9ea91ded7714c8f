import { actorWords } from '../../core/identity/actor.ts';
import type { Command } from 'commander';
import type { SecretView } from '../../core/access/secret.ts';
import { MASKED_LENGTH_MIN } from '../../core/access/redact.ts';
import { age } from '../../core/values/duration.ts';
import type { Cli } from '../cli.ts';
import { definitionOption } from '../options/definition-option.ts';
import { noteUnknown } from '../options/known-definition.ts';
import { readSecretValue } from '../options/secret-value.ts';
import { clientOf, outputOf } from '../session.ts';
import { columns } from '../text/columns.ts';

interface Options {
  definitionKey?: string;
  fromFile?: string;
}

const SCOPE = 'the definition; default: all definitions of the tenant';

export function addSecrets(program: Command, cli: Cli): void {
  const secrets = program
    .command('secrets')
    .summary('set, list and remove secrets of jobs')
    .description(
      'Manage secrets of jobs. Jobs get them as environment variables; values are never shown.',
    );
  addSet(secrets, cli);
  addList(secrets, cli);
  addRemove(secrets, cli);
}

function addSet(secrets: Command, cli: Cli): void {
  secrets
    .command('set')
    .description('Set a secret. The value is read from stdin, typed without echo, or from a file.')
    .argument('<name>', 'the name of the environment variable')
    .addOption(definitionOption(SCOPE))
    .option('--from-file <file>', 'read the value from this file')
    .action(async (name: string, options: Options, command: Command) => {
      const { definitionKey, fromFile } = options;
      const out = outputOf(cli, command);
      const client = clientOf(cli, command);
      const value = await readSecretValue(cli, fromFile);
      const set = await client.secrets.set(name, value, { definitionKey });
      if (value.length < MASKED_LENGTH_MIN) {
        out.note(`Values of less than ${MASKED_LENGTH_MIN} characters are not masked in output.`);
      }
      if (out.json) out.document(set);
      else out.lines([set.name]);
      await noteUnknown(out, client, definitionKey);
    });
}

function addList(secrets: Command, cli: Cli): void {
  secrets
    .command('list')
    .description('List secrets, without their values.')
    .addOption(definitionOption('only those that jobs of this definition get'))
    .action(async (options: Options, command: Command) => {
      const out = outputOf(cli, command);
      const client = clientOf(cli, command);
      const found = await client.secrets.list(options);
      if (out.json) return out.document({ secrets: found });
      if (found.length === 0) {
        out.note('No secrets.');
        return await noteUnknown(out, client, options.definitionKey);
      }
      const rows = found.map((secret) => row(secret, cli.clock.now()));
      out.table(columns([['NAME', 'DEFINITION', 'AGE', 'SET BY'], ...rows], out.width));
    });
}

function addRemove(secrets: Command, cli: Cli): void {
  secrets
    .command('remove')
    .description('Remove a secret. Jobs that start afterwards do not get it.')
    .argument('<name>', 'the name of the secret')
    .addOption(definitionOption(SCOPE))
    .action(async (name: string, { definitionKey }: Options, command: Command) => {
      const out = outputOf(cli, command);
      await clientOf(cli, command).secrets.delete(name, { definitionKey });
      if (out.json) out.document({ name, definitionKey: definitionKey ?? null, deleted: true });
      else out.lines([name]);
    });
}

function row({ name, definitionKey, updatedAt, updatedBy }: SecretView, now: Date): string[] {
  return [
    name,
    definitionKey ?? '*',
    age(now.getTime() - Date.parse(updatedAt)),
    actorWords(updatedBy),
  ];
}
