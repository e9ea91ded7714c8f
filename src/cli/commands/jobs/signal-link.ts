import type { Command } from 'commander';
import type { LinkChoice } from '../../../core/signal/signal-link.ts';
import { parseDuration } from '../../../core/values/parse-duration.ts';
import type { Cli } from '../../cli.ts';
import { findJobId } from '../../options/find-id.ts';
import { UsageError } from '../../options/usage-error.ts';
import { columns } from '../../text/columns.ts';
import { clientOf, outputOf } from '../../session.ts';

interface LinkFlags {
  expires?: string;
  text?: string;
  choice?: string[];
  list?: true;
  revoke?: string;
}

/** Links for people without an account: made, listed and revoked by one command. */
export function addSignalLink(program: Command, cli: Cli): void {
  program
    .command('signal-link')
    .summary('make a one-time link for a signal')
    .description('Make a link with which anyone can send this signal once, without a key.')
    .argument('<id>', 'job id')
    .argument('<name>', 'name of the signal')
    .option('--expires <time>', 'how long it works, like 12h or "3 days" (default 7 days)')
    .option('--text <text>', 'what the page asks')
    .option(
      '--choice <label=json>',
      'a button and the payload that it sends; repeat for more',
      (value: string, earlier: string[] | undefined) => [...(earlier ?? []), value],
    )
    .option('--list', 'list the links for this signal instead')
    .option('--revoke <link>', 'revoke the link with this id instead')
    .action(async (id: string, name: string, flags: LinkFlags, command: Command) => {
      const client = clientOf(cli, command);
      const out = outputOf(cli, command);
      const jobId = await findJobId(client, id);
      if (flags.revoke !== undefined) {
        await client.revokeSignalLink(jobId, name, flags.revoke);
        return out.json
          ? out.document({ linkId: flags.revoke, state: 'revoked' })
          : out.lines(columns([[flags.revoke, 'revoked']]));
      }
      if (flags.list) {
        const links = await client.signalLinks(jobId, name);
        const rows = links.map(({ linkId, state, expiresAt }) => [linkId, state, expiresAt]);
        return out.json ? out.document({ links }) : out.lines(columns(rows));
      }
      const made = await client.signalLink(jobId, name, {
        text: flags.text,
        choices: flags.choice?.map(choiceOf),
        expiresInMs: flags.expires === undefined ? undefined : lengthOf(flags.expires),
      });
      if (out.json) return out.document(made);
      out.lines([made.url]);
      out.note(`Works once, until ${made.expiresAt}. Revoke it with --revoke ${made.linkId}.`);
    });
}

function choiceOf(text: string): LinkChoice {
  const [, label, json = ''] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (label === undefined) throw new UsageError(`--choice takes label=json (got "${text}")`);
  try {
    return { label, payload: JSON.parse(json) as unknown };
  } catch {
    throw new UsageError(`--choice ${label}: the payload is no JSON (got "${json}")`);
  }
}

function lengthOf(text: string): number {
  const ms = parseDuration(text);
  if (ms === null) throw new UsageError(`--expires takes a time like 12h (got "${text}")`);
  return ms;
}
