import type { Command } from 'commander';
import type { WebhookEvent } from '../../core/webhook/webhook.ts';
import type { Cli } from '../cli.ts';
import { confirm } from '../options/confirm.ts';
import { eachOf, webhookEvents, whole } from '../options/option-values.ts';
import { addPage, type PageFlags } from '../options/page-options.ts';
import { printable } from '../text/printable.ts';
import { clientOf, outputOf } from '../session.ts';
import { deliveryTable, webhookTable } from '../text/webhook-text.ts';

export function addWebhooks(program: Command, cli: Cli): void {
  const webhooks = program
    .command('webhooks')
    .summary('tell others what becomes of jobs')
    .description('Look after webhooks: who is told what becomes of jobs, and what was sent.');
  addList(webhooks, cli);
  addCreate(webhooks, cli);
  addStatus(webhooks, cli);
  addRotate(webhooks, cli);
  addDelete(webhooks, cli);
  addDeliveries(webhooks, cli);
  addSends(webhooks, cli);
}

function addList(webhooks: Command, cli: Cli): void {
  webhooks
    .command('list')
    .description('List the webhooks. One that was stopped says why.')
    .action(async (_options: unknown, command: Command) => {
      const out = outputOf(cli, command);
      const found = await clientOf(cli, command).webhooks.list();
      if (out.json) return out.document({ webhooks: found });
      if (found.length === 0) out.note('There are no webhooks.');
      else out.table(webhookTable(found, out.width));
    });
}

function addCreate(webhooks: Command, cli: Cli): void {
  interface Options {
    event: WebhookEvent[];
    description?: string;
    definitionKey?: string[];
    tag?: string[];
  }
  webhooks
    .command('create')
    .description('Make a webhook and print its id and its secret, which is shown this time only.')
    .argument('<url>', 'where events are sent to')
    .requiredOption('--event <event>', 'what to tell; may be repeated or listed', webhookEvents)
    .option('--description <text>', 'a word for people')
    .option('--definition-key <key>', 'only of jobs of this definition; may be repeated', eachOf)
    .option('--tag <tag>', 'only of jobs with one of these tags; may be repeated', eachOf)
    .action(async (url: string, options: Options, command: Command) => {
      const { event: events, description, definitionKey: definitionKeys, tag: tags } = options;
      const out = outputOf(cli, command);
      const request = { url, events, description, definitionKeys, tags };
      const made = await clientOf(cli, command).webhooks.create(request);
      if (out.json) return out.document(made);
      out.lines([made.id, made.secret]);
      out.note(`This is the only time that the secret of ${made.id} is shown.`);
    });
}

function addStatus(webhooks: Command, cli: Cli): void {
  const turns = [
    [
      'pause',
      'paused',
      'Send nothing more, until it is resumed. What happens meanwhile is not kept.',
    ],
    ['resume', 'active', 'Send again, also after it was stopped because the receiver failed.'],
  ] as const;
  for (const [name, status, description] of turns) {
    webhooks
      .command(name)
      .description(description)
      .argument('<id>', 'the id of the webhook')
      .action(async (id: string, _options: unknown, command: Command) => {
        const out = outputOf(cli, command);
        const changed = await clientOf(cli, command).webhooks.update(id, { status });
        if (out.json) out.document(changed);
        else out.lines([changed.id]);
      });
  }
}

function addRotate(webhooks: Command, cli: Cli): void {
  webhooks
    .command('rotate')
    .description('Replace the secret and print the new one, which is shown this time only.')
    .argument('<id>', 'the id of the webhook')
    .option('--overlap-seconds <seconds>', 'both secrets sign for so long; default a day', whole)
    .action(async (id: string, options: { overlapSeconds?: number }, command: Command) => {
      const out = outputOf(cli, command);
      const made = await clientOf(cli, command).webhooks.rotate(id, options);
      if (out.json) return out.document(made);
      out.lines([made.secret]);
      out.note(`The old secret signs as well until ${made.previousSecretUntil}.`);
    });
}

function addDelete(webhooks: Command, cli: Cli): void {
  webhooks
    .command('delete')
    .description('Delete a webhook. What waits to be sent is not sent any more.')
    .argument('<id>', 'the id of the webhook')
    .option('--yes', 'do not ask')
    .action(async (id: string, options: { yes?: true }, command: Command) => {
      const out = outputOf(cli, command);
      const { webhooks: client } = clientOf(cli, command);
      const { url } = await client.get(id);
      const question = `Delete the webhook that is sent to ${new URL(url).host}?`;
      if (!options.yes && !(await confirm(cli, printable(question)))) {
        return out.note('Nothing was deleted.');
      }
      await client.delete(id);
      if (out.json) out.document({ id, deleted: true });
      else out.lines([id]);
    });
}

function addDeliveries(webhooks: Command, cli: Cli): void {
  const deliveries = webhooks
    .command('deliveries')
    .description('List what was sent, or is to be, the newest first. --json has all of it.')
    .argument('<id>', 'the id of the webhook');
  addPage(deliveries).action(async (id: string, flags: PageFlags, command: Command) => {
    const out = outputOf(cli, command);
    const page = await clientOf(cli, command).webhooks.deliveries(id, flags);
    if (out.json) return out.document(page);
    if (page.deliveries.length === 0) out.note('Nothing was to be sent so far.');
    else out.table(deliveryTable(page.deliveries, cli.clock.now(), out.width));
    out.noteMore(page.nextCursor);
  });
}

function addSends(webhooks: Command, cli: Cli): void {
  const print = (made: { deliveryId: string }, command: Command) => {
    const out = outputOf(cli, command);
    if (out.json) out.document(made);
    else out.lines([made.deliveryId]);
  };
  webhooks
    .command('redeliver')
    .description('Send an event once more, and print the id of the new delivery.')
    .argument('<id>', 'the id of the webhook')
    .argument('<delivery>', 'the id of the delivery')
    .action(async (id: string, delivery: string, _options: unknown, command: Command) => {
      print(await clientOf(cli, command).webhooks.redeliver(id, delivery), command);
    });
  webhooks
    .command('test')
    .description('Send an event without content, and print the id of its delivery.')
    .argument('<id>', 'the id of the webhook')
    .action(async (id: string, _options: unknown, command: Command) => {
      print(await clientOf(cli, command).webhooks.test(id), command);
    });
}
