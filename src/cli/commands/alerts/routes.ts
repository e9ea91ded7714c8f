import { setTimeout as pause } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import type { AlertMessage, AlertRouteOptions, Longshore } from '../../../client/index.ts';
import type { AlertRuleName } from '../../../core/alert/alert.ts';
import type { Weekday } from '../../../core/alert/quiet-hours.ts';
import type { Chat } from '../../../core/webhook/chat.ts';
import type { Cli } from '../../cli.ts';
import { exitCode } from '../../exit-codes.ts';
import { definitionOption } from '../../options/definition-option.ts';
import { noteUnknown } from '../../options/known-definition.ts';
import { confirm } from '../../options/confirm.ts';
import {
  alertRules,
  chat,
  eachOf,
  quietHours,
  weekdays,
  whole,
} from '../../options/option-values.ts';
import { addPage, type PageFlags } from '../../options/page-options.ts';
import { readSecretValue } from '../../options/secret-value.ts';
import { UsageError } from '../../options/usage-error.ts';
import { clientOf, outputOf } from '../../session.ts';
import { lastAnswer, messageTable, routeTable } from '../../text/alert-text.ts';

const NAME = ['<name>', 'the name of the route'] as const;

/** Where alerts are sent: by e-mail or to a chat. */
export function addRoutes(alerts: Command, cli: Cli): void {
  addList(alerts, cli);
  addRoute(alerts, cli);
  addUnroute(alerts, cli);
  addTest(alerts, cli);
  addMessages(alerts, cli);
}

function addList(alerts: Command, cli: Cli): void {
  alerts
    .command('routes')
    .description('List where alerts are sent. The URL of a chat is not shown.')
    .action(async (_options: unknown, command: Command) => {
      const out = outputOf(cli, command);
      const routes = await clientOf(cli, command).alerts.routes();
      if (out.json) return out.document({ routes });
      if (routes.length === 0) out.note('No routes.');
      else out.table(routeTable(routes, out.width));
    });
}

interface Options {
  email?: string[];
  chat?: Chat;
  chatUrl?: string;
  chatUrlFile?: string;
  rule?: AlertRuleName[];
  owner?: string[];
  definitionKey?: string[];
  quietHours?: { from: string; to: string };
  timezone?: string;
  quietDay?: Weekday[];
  groupSeconds?: number;
  off?: true;
}

function addRoute(alerts: Command, cli: Cli): void {
  alerts
    .command('route')
    .description('Send alerts to e-mail addresses or to a chat. Replaces the route of this name.')
    .argument(...NAME)
    .option('--email <address>', 'send e-mail to this address; may be repeated', eachOf)
    .addOption(
      new Option('--chat <chat>', 'send to a chat: slack, discord or teams')
        .argParser(chat)
        .conflicts('email'),
    )
    .option('--chat-url <url>', "URL of the chat's incoming webhook; without it the old one stays")
    .addOption(
      new Option('--chat-url-file <file>', 'read the URL from this file; - is stdin').conflicts(
        'chatUrl',
      ),
    )
    .option('--rule <rule>', 'only alerts of this rule; may be repeated', alertRules)
    .option('--owner <owner>', 'only definitions of this owner; may be repeated', eachOf)
    .addOption(definitionOption('only this definition; may be repeated').argParser(eachOf))
    .option('--quiet-hours <from-to>', 'send only critical alerts then: 22:00-07:00', quietHours)
    .option('--timezone <name>', 'time zone of the quiet hours; default UTC')
    .option('--quiet-day <day>', 'day on which they begin: mon to sun; may be repeated', weekdays)
    .option('--group-seconds <number>', 'alerts within this time are one message', whole)
    .option('--off', 'keep the route, but send nothing')
    .action(async (name: string, options: Options, command: Command) => {
      const out = outputOf(cli, command);
      const route = await optionsOf(cli, options);
      const client = clientOf(cli, command);
      const saved = await client.alerts.setRoute(name, route);
      if (out.json) out.document(saved);
      else out.table(routeTable([saved], out.width));
      for (const warning of saved.warnings ?? []) out.note(`warning: ${warning}`);
      await noteUnknown(out, client, route.definitionKeys ?? undefined);
    });
}

async function optionsOf(cli: Cli, options: Options): Promise<AlertRouteOptions> {
  const { email: to, chat: chatName, chatUrlFile: file, rule: rules, owner: owners } = options;
  const { definitionKey: definitionKeys, groupSeconds, timezone, quietDay: days } = options;
  const channel = chatName ?? (to ? 'email' : null);
  if (channel === null) throw new UsageError('give --email or --chat');
  if (!options.quietHours && (timezone !== undefined || days)) {
    throw new UsageError('--timezone and --quiet-day need --quiet-hours');
  }
  const hours = options.quietHours && { ...options.quietHours, timezone, days };
  const url =
    file === undefined
      ? options.chatUrl
      : await readSecretValue(cli, file === '-' ? undefined : file);
  const filters = { rules, owners, definitionKeys };
  return { channel, to, url, ...filters, quietHours: hours, groupSeconds, enabled: !options.off };
}

function addUnroute(alerts: Command, cli: Cli): void {
  alerts
    .command('unroute')
    .description('Delete a route. Messages that are not sent yet are dropped.')
    .argument(...NAME)
    .option('--yes', 'do not ask for confirmation')
    .action(async (name: string, options: { yes?: true }, command: Command) => {
      const out = outputOf(cli, command);
      if (!options.yes && !(await confirm(cli, `Delete the route ${name}?`))) {
        return out.note('Nothing was deleted.');
      }
      await clientOf(cli, command).alerts.deleteRoute(name);
      if (out.json) out.document({ name, deleted: true });
      else out.lines([name]);
    });
}

const POLL_MS = 250;
const PATIENCE_MS = 60_000;

function addTest(alerts: Command, cli: Cli): void {
  alerts
    .command('test')
    .description('Send a test message to a route and wait for the answer of its receiver.')
    .argument(...NAME)
    .action(async (name: string, _options: unknown, command: Command) => {
      const out = outputOf(cli, command);
      const client = clientOf(cli, command);
      const { messageId } = await client.alerts.testRoute(name);
      const message = await ended(cli, client, name, messageId);
      if (message?.status !== 'delivered') {
        cli.exitCode = exitCode(message ? 'failed' : 'timeout');
      }
      if (out.json) return out.document(message ?? { id: messageId, status: 'pending' });
      if (!message) return out.note('Not sent yet: does a worker run?');
      out.lines([message.status]);
      if (message.status !== 'delivered') out.note(lastAnswer(message.attempts));
    });
}

/** Undefined when it takes too long. */
async function ended(
  cli: Cli,
  client: Longshore,
  name: string,
  id: string,
): Promise<AlertMessage | undefined> {
  const endMs = cli.clock.monotonicMs() + PATIENCE_MS;
  while (cli.clock.monotonicMs() < endMs) {
    const { messages } = await client.alerts.messages(name);
    const found = messages.find((message) => message.id === id);
    if (found && found.finishedAt !== null) return found;
    await pause(POLL_MS);
  }
  return undefined;
}

function addMessages(alerts: Command, cli: Cli): void {
  const messages = alerts
    .command('messages')
    .description('List messages of a route, newest first. --json includes texts and responses.')
    .argument(...NAME);
  addPage(messages).action(async (name: string, flags: PageFlags, command: Command) => {
    const out = outputOf(cli, command);
    const page = await clientOf(cli, command).alerts.messages(name, flags);
    if (out.json) return out.document(page);
    if (page.messages.length === 0) out.note('No messages.');
    else out.table(messageTable(page.messages, cli.clock.now(), out.width));
    out.noteMore(page.nextCursor);
  });
}
