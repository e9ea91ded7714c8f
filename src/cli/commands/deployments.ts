import { writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { InvalidArgumentError } from 'commander';
import type { Cli } from '../cli.ts';
import { confirm } from '../options/confirm.ts';
import { eachOf, whole } from '../options/option-values.ts';
import { UsageError } from '../options/usage-error.ts';
import { clientOf, outputOf } from '../session.ts';
import {
  deploymentLines,
  deploymentTable,
  differenceLines,
  jobsLines,
  releaseTable,
  releaseSentence,
} from '../deploy/deployment-text.ts';

/** `longshore deployments`: which code new jobs get. */
export function addDeployments(program: Command, cli: Cli): void {
  const deployments = program
    .command('deployments')
    .summary('list deployments, promote one or roll back')
    .description('List deployments, and choose which one new jobs get.');
  addReads(deployments, cli);
  addPromote(deployments, cli);
  addRollback(deployments, cli);
  addRetire(deployments, cli);
  addCreateKey(deployments, cli);
}

function addReads(deployments: Command, cli: Cli): void {
  deployments
    .command('list')
    .description('List deployments, the newest first.')
    .option('--limit <number>', 'how many; default 20', whole)
    .action(async ({ limit = 20 }: { limit?: number }, command: Command) => {
      const out = outputOf(cli, command);
      const found = await clientOf(cli, command).deployments.list({ limit });
      if (out.json) return out.document({ deployments: found });
      if (found.length > 0) return out.table(deploymentTable(found, out.width));
      out.note(`No deployments. Deploy a folder with: ${out.next('deploy ./jobs')}`);
    });
  deployments
    .command('show')
    .description('Show a deployment, and what became of its jobs.')
    .argument('<number>', 'its number', numberOf)
    .action(async (number: number, _options: unknown, command: Command) => {
      const out = outputOf(cli, command);
      const found = await clientOf(cli, command).deployments.get(number);
      if (out.json) return out.document(found);
      out.lines([...deploymentLines(found), '', ...jobsLines(found.jobs, out.width)]);
    });
  deployments
    .command('history')
    .description('List what was released, rolled back or retired, the newest first.')
    .option('--hours <number>', 'how far back; default 24', whole)
    .action(async ({ hours }: { hours?: number }, command: Command) => {
      const out = outputOf(cli, command);
      const { deployments: client } = clientOf(cli, command);
      const changes = await client.changes(hours === undefined ? {} : { hours });
      if (out.json) return out.document({ changes });
      if (changes.length > 0) return out.table(releaseTable(changes, out.width));
      out.note('Nothing was released in this time.');
    });
  deployments
    .command('diff')
    .description('Compare the definitions of a deployment with those that new jobs get now.')
    .argument('<number>', 'its number', numberOf)
    .option('--against <number>', 'compare with this deployment instead', numberOf)
    .action(async (number: number, { against }: { against?: number }, command: Command) => {
      const out = outputOf(cli, command);
      const found = await clientOf(cli, command).deployments.diff(number, against);
      if (out.json) out.document(found);
      else out.lines(differenceLines(found));
    });
}

interface PromoteFlags {
  definition?: string[];
  canary?: number;
  reason?: string;
}

function addPromote(deployments: Command, cli: Cli): void {
  deployments
    .command('promote')
    .description('Give a deployment, also an older one, to new jobs.')
    .argument('<number>', 'its number', numberOf)
    .option('--definition <key>', 'only this definition; may be repeated', eachOf)
    .option('--canary <percent>', 'only this share of new jobs', percentOf)
    .option('--reason <text>', 'reason, shown to other users')
    .action(async (number: number, flags: PromoteFlags, command: Command) => {
      const { definition: definitions, canary: canaryPercent, reason } = flags;
      const out = outputOf(cli, command);
      const options = { definitions, canaryPercent, reason };
      const made = await clientOf(cli, command).deployments.promote(number, options);
      if (out.json) return out.document(made);
      out.lines([String(made.number)]);
      out.note(releaseSentence(made));
    });
}

function addRollback(deployments: Command, cli: Cli): void {
  deployments
    .command('rollback')
    .description('Give new jobs the deployment that was current before, or end a canary.')
    .option('--definition <key>', 'only this definition; may be repeated', eachOf)
    .option('--reason <text>', 'reason, shown to other users')
    .action(async (flags: Omit<PromoteFlags, 'canary'>, command: Command) => {
      const out = outputOf(cli, command);
      const { definition: definitions, reason } = flags;
      const now = await clientOf(cli, command).deployments.rollback({ definitions, reason });
      if (out.json) return out.document({ deployments: now });
      out.lines(now.map(({ number }) => String(number)));
      out.note('New jobs get these deployments; queued jobs keep theirs.');
    });
}

function addRetire(deployments: Command, cli: Cli): void {
  deployments
    .command('retire')
    .description('Stop serving a deployment.')
    .argument('<number>', 'its number', numberOf)
    .option('--yes', 'do not ask for confirmation')
    .action(async (number: number, options: { yes?: true }, command: Command) => {
      const out = outputOf(cli, command);
      const { deployments: client } = clientOf(cli, command);
      const { currentFor } = await client.get(number);
      const question =
        currentFor.length === 0
          ? `Retire deployment ${number}? Its waiting jobs will not run.`
          : `Retire deployment ${number}? New jobs of ${currentFor.join(', ')} get it now.`;
      if (!options.yes && !(await confirm(cli, question))) return out.note('Nothing was changed.');
      const made = await client.retire(number);
      if (out.json) out.document(made);
      else out.lines([String(number)]);
    });
}

function addCreateKey(deployments: Command, cli: Cli): void {
  deployments
    .command('create-key')
    .description('Create a key that signs deployments; prints its public part.')
    .argument('<file>', 'a new file for the private part')
    .action(async (file: string, _options: unknown, command: Command) => {
      const out = outputOf(cli, command);
      const { createSigningKey } = await import('../../artifacts/signature.ts');
      const { keyId, publicKey, privateKey } = createSigningKey();
      await writeFile(file, privateKey, { mode: 0o600, flag: 'wx' }).catch((error: unknown) => {
        throw new UsageError(`cannot create ${file}: ${(error as Error).message}`);
      });
      if (out.json) return out.document({ keyId, publicKey, file });
      out.lines([publicKey]);
      out.note('Servers and workers require it with LONGSHORE_ARTIFACT_KEYS.');
    });
}

function numberOf(text: string): number {
  if (/^[1-9]\d{0,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('must be the number of a deployment');
}

export function percentOf(text: string): number {
  const percent = Number(text.replace(/%$/, ''));
  if (percent >= 0.01 && percent <= 99) return percent;
  throw new InvalidArgumentError('must be a percentage from 0.01 to 99');
}
