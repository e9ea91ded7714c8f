import { openAsBlob } from 'node:fs';
import type { Command } from 'commander';
import type { Deployment } from '../../client/deployments.ts';
import type { Longshore } from '../../client/index.ts';
import type { Cli } from '../cli.ts';
import { eachOf } from '../options/option-values.ts';
import { clientOf, outputOf } from '../session.ts';
import { UsageError } from '../options/usage-error.ts';
import { differenceLines, releaseSentence } from '../deploy/deployment-text.ts';
import type { Output } from '../text/output.ts';
import { size } from '../text/size.ts';
import { percentOf } from './deployments.ts';

interface DeployFlags {
  note?: string;
  revision?: string;
  promote: boolean;
  canary?: number;
  sign?: string;
  external?: string[];
}

/** `longshore deploy`: from a folder of definitions to code that new jobs run. */
export function addDeploy(program: Command, cli: Cli): void {
  program
    .command('deploy')
    .summary('deploy a folder of definitions, or an archive')
    .description(
      'Bundle the definitions of a folder with their packages, upload the bundle and give it to new ' +
        'jobs. Workers load it without a restart.',
    )
    .argument('<path>', 'a folder of definitions, or a tar.gz or zip with a longshore.json')
    .option('--note <text>', 'what it changes')
    .option('--revision <text>', 'revision of the code; default: the commit of its git repository')
    .option('--no-promote', 'create the deployment; new jobs do not get it yet')
    .option('--canary <percent>', 'only this share of new jobs gets it', percentOf)
    .option('--sign <file>', 'sign with the private key in this file')
    .option(
      '--external <package>',
      'a package that workers have installed; may be repeated',
      eachOf,
    )
    .action(async (path: string, flags: DeployFlags, command: Command) => {
      if (!flags.promote && flags.canary !== undefined) {
        throw new UsageError('--no-promote and --canary exclude each other');
      }
      const out = outputOf(cli, command);
      const deployed = await deploy(path, flags, clientOf(cli, command), out);
      if (out.json) return out.document(deployed);
      out.lines(differenceLines(deployed));
      out.note(sentence(out, deployed, flags.promote));
    });
}

async function deploy(path: string, flags: DeployFlags, client: Longshore, out: Output) {
  const { note, promote, canary: canaryPercent, external = [] } = flags;
  const { makeArchive, signArchive } = await import('../deploy/make-archive.ts');
  out.note(`Bundling ${path}…`);
  const made = await makeArchive(path, external, (line) => out.note(line));
  try {
    const { sha256, bytes, revision: commit } = made;
    const signature = flags.sign === undefined ? undefined : await signArchive(made, flags.sign);
    out.note(`Uploading ${size(bytes)}…`);
    const archive = await openAsBlob(made.file);
    const { artifactId } = await client.deployments.upload(archive, { sha256, signature });
    const { revision = commit } = flags;
    const options = { note, revision, promote, canaryPercent };
    return await client.deployments.create(artifactId, options);
  } finally {
    await made.remove();
  }
}

function sentence(out: Output, made: Deployment, promoted: boolean): string {
  if (promoted) return releaseSentence(made);
  const { number } = made;
  return `Created deployment ${number}. Release it with: ${out.next(`deployments promote ${number}`)}`;
}
