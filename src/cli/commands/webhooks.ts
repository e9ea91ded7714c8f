import type { Command } from 'commander';
import type { WebhookEvent, WebhookFormat } from '../../core/webhook/webhook.ts';
import type { Cli } from '../cli.ts';
import { confirm } from '../options/confirm.ts';
import { eachOf, webhookEvents, webhookFormat, whole } from '../options/option-values.ts';
import { addPage, type PageFlags } from '../options/page-options.ts';
import { printable } from '../../core/values/printable.ts';
import { clientOf, outputOf } from '../session.ts';
import { deliveryTable, webhookTable } from '../text/webhook-text.ts';
import { definitionOption } from '../options/definition-option.ts';
import { findWebhookId } from '../options/find-id.ts';
import { noteUnknown } from '../options/known-definition.ts';

export function addWebhooks(program: Command, cli: Cli): void {
  const webhooks = program
    .command('webhooks')
    .summary('manage webhooks')
    .description('Manage webhooks and their deliveries.');
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
    .description('List webhooks; a disabled one shows the reason.')
    .action(async (_options: unknown, command: Command) => {
      const out = outputOf(cli, command);
      const found = await clientOf(cli, command).webhooks.list();
      if (out.json) return out.document({ webhooks: found });
      if (found.length === 0) out.note('No webhooks.');
      else out.table(webhookTable(found, out.width));
    });
}

function addCreate(webhooks: Command, cli: Cli): void {
  interface Options {
    event: WebhookEvent[];
    format?: WebhookFormat;
    description?: string;
    definitionKey?: string[];
    tag?: string[];
  }
  webhooks
    .command('create')
    .description('Create a webhook and print its id and its secret, which is shown only once.')
    .argument('<url>', 'the URL that receives events')
    .requiredOption(
      '--event <event>',
      'event type; may be repeated or comma-separated',
      webhookEvents,
    )
    .option(
      '--format <format>',
      'what to send: cloudevents (default), slack, discord or teams',
      webhookFormat,
    )
    .option('--description <text>', 'a description')
    .addOption(definitionOption('only jobs of this definition; may be repeated').argParser(eachOf))
    .option('--tag <tag>', 'only jobs with one of these tags; may be repeated', eachOf)
    .action(async (url: string, options: Options, command: Command) => {
      const { event: events, format, description } = options;
      const { definitionKey: definitionKeys, tag: tags } = options;
      const out = outputOf(cli, command);
      const request = { url, events, format, description, definitionKeys, tags };
      const client = clientOf(cli, command);
      const made = await client.webhooks.create(request);
      if (out.json) return out.document(made);
      out.lines([made.id, made.secret]);
      out.note(`The secret of ${made.id} is shown only once.`);
      await noteUnknown(out, client, definitionKeys);
    });
}

function addStatus(webhooks: Command, cli: Cli): void {
  const turns = [
    ['pause', 'paused', 'Send nothing until it is resumed. Events in the meantime are dropped.'],
    ['resume', 'active', 'Send again, also after it was disabled because the receiver failed.'],
  ] as const;
  for (const [name, status, description] of turns) {
    webhooks
      .command(name)
      .description(description)
      .argument('<id>', 'the id of the webhook')
      .action(async (typed: string, _options: unknown, command: Command) => {
        const out = outputOf(cli, command);
        const client = clientOf(cli, command);
        const changed = await client.webhooks.update(await findWebhookId(client, typed), {
          status,
        });
        if (out.json) out.document(changed);
        else out.lines([changed.id]);
      });
  }
}

function addRotate(webhooks: Command, cli: Cli): void {
  webhooks
    .command('rotate')
    .description('Replace the secret and print the new one, which is shown only once.')
    .argument('<id>', 'the id of the webhook')
    .option('--overlap-seconds <seconds>', 'how long both secrets sign; default one day', whole)
    .action(async (typed: string, options: { overlapSeconds?: number }, command: Command) => {
      const out = outputOf(cli, command);
      const client = clientOf(cli, command);
      const made = await client.webhooks.rotate(await findWebhookId(client, typed), options);
      if (out.json) return out.document(made);
      out.lines([made.secret]);
      out.note(`The old secret also signs until ${made.previousSecretUntil}.`);
    });
}

function addDelete(webhooks: Command, cli: Cli): void {
  webhooks
    .command('delete')
    .description('Delete a webhook. Pending deliveries are dropped.')
    .argument('<id>', 'the id of the webhook')
    .option('--yes', 'do not ask for confirmation')
    .action(async (typed: string, options: { yes?: true }, command: Command) => {
      const out = outputOf(cli, command);
      const longshore = clientOf(cli, command);
      const { webhooks: client } = longshore;
      const id = await findWebhookId(longshore, typed);
      const { url } = await client.get(id);
      const question = `Delete the webhook for ${new URL(url).host}?`;
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
    .description('List deliveries, newest first. --json includes requests and responses.')
    .argument('<id>', 'the id of the webhook');
  addPage(deliveries).action(async (typed: string, flags: PageFlags, command: Command) => {
    const out = outputOf(cli, command);
    const client = clientOf(cli, command);
    const page = await client.webhooks.deliveries(await findWebhookId(client, typed), flags);
    if (out.json) return out.document(page);
    if (page.deliveries.length === 0) out.note('No deliveries.');
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
    .description(
      'Send an event again, and print the id of the delivery: a new one, unless it still waits.',
    )
    .argument('<id>', 'the id of the webhook')
    .argument('<delivery>', 'the id of the delivery')
    .action(async (typed: string, delivery: string, _options: unknown, command: Command) => {
      const client = clientOf(cli, command);
      const id = await findWebhookId(client, typed);
      print(await client.webhooks.redeliver(id, delivery), command);
    });
  webhooks
    .command('test')
    .description('Send a test event, and print the id of its delivery.')
    .argument('<id>', 'the id of the webhook')
    .action(async (typed: string, _options: unknown, command: Command) => {
      const client = clientOf(cli, command);
      print(await client.webhooks.test(await findWebhookId(client, typed)), command);
    });
}
