import { type Command, Option } from 'commander';
import type { AlertFilter, AlertRuleOptions } from '../../../client/index.ts';
import type { AlertRuleName } from '../../../core/alert/alert.ts';
import { alertTable, ruleTable } from '../../text/alert-text.ts';
import type { Cli } from '../../cli.ts';
import { definitionOption } from '../../options/definition-option.ts';
import { findAlertId } from '../../options/find-id.ts';
import { alertRule, alertSeverity, secondsOf, whole } from '../../options/option-values.ts';
import { addPage } from '../../options/page-options.ts';
import { clientOf, outputOf } from '../../session.ts';
import { addRoutes } from './routes.ts';

const OF_ONE = 'for this definition only';

export function addAlerts(program: Command, cli: Cli): void {
  const alerts = program
    .command('alerts')
    .summary('list alerts, change their rules, and send them to people')
    .description('List alerts, change the rules that fire them, and send them by e-mail and chat.');
  addList(alerts, cli);
  addSilence(alerts, cli);
  addRules(alerts, cli);
  addSet(alerts, cli);
  addUnset(alerts, cli);
  addRoutes(alerts, cli);
}

function addList(alerts: Command, cli: Cli): void {
  const list = alerts
    .command('list', { isDefault: true })
    .description('List firing alerts, newest first; with --all also resolved ones.')
    .option('--all', 'also list resolved alerts')
    .option('--rule <rule>', 'only alerts of this rule', alertRule)
    .addOption(definitionOption('only alerts of this definition'));
  addPage(list).action(
    async ({ all, ...filter }: AlertFilter & { all?: true }, command: Command) => {
      const out = outputOf(cli, command);
      const status = all ? undefined : 'firing';
      const page = await clientOf(cli, command).alerts.list({ ...filter, status });
      if (out.json) return out.document(page);
      if (page.alerts.length === 0) return out.note(all ? 'No alerts.' : 'No firing alerts.');
      out.table(alertTable(page.alerts, cli.clock.now(), out.width));
      out.noteMore(page.nextCursor);
    },
  );
}

function addSilence(alerts: Command, cli: Cli): void {
  alerts
    .command('silence')
    .description('Send nothing about a firing alert. It stays listed.')
    .argument('<id>', 'the id of the alert')
    .option('--for <duration>', 'such as 30m, 1h or 8h; default: until it is resolved', secondsOf)
    .action(async (typed: string, options: { for?: number }, command: Command) => {
      const out = outputOf(cli, command);
      const client = clientOf(cli, command);
      const seconds = options.for ?? null;
      const alert = await client.alerts.silence(await findAlertId(client, typed), { seconds });
      if (out.json) return out.document(alert);
      out.lines([alert.id]);
      const until = alert.silenced?.until ?? 'it is resolved';
      out.note(`Silenced until ${until}.`);
    });
  alerts
    .command('unsilence')
    .description('End the silence of an alert. Routes that have not sent it send it now.')
    .argument('<id>', 'the id of the alert')
    .action(async (typed: string, _options: unknown, command: Command) => {
      const out = outputOf(cli, command);
      const client = clientOf(cli, command);
      const alert = await client.alerts.unsilence(await findAlertId(client, typed));
      if (out.json) out.document(alert);
      else out.lines([alert.id]);
    });
}

function addRules(alerts: Command, cli: Cli): void {
  alerts
    .command('rules')
    .description('List the alert rules with their effective values and sources.')
    .action(async (_options: unknown, command: Command) => {
      const out = outputOf(cli, command);
      const rules = await clientOf(cli, command).alerts.rules();
      if (out.json) return out.document({ rules });
      out.table(ruleTable(rules, out.width));
    });
}

function addSet(alerts: Command, cli: Cli): void {
  interface Options extends Omit<AlertRuleOptions, 'enabled'> {
    on?: true;
    off?: true;
  }
  alerts
    .command('set')
    .description('Change an alert rule. Replaces earlier changes of this rule.')
    .argument('<rule>', 'the name of the rule', alertRule)
    .addOption(definitionOption(OF_ONE))
    .option('--threshold <number>', 'fire at this value or above', whole)
    .option('--window-seconds <number>', 'length of the window', whole)
    .option(
      '--severity <severity>',
      'warning or critical, which quiet hours let through',
      alertSeverity,
    )
    .addOption(new Option('--off', 'disable the rule').conflicts('on'))
    .option('--on', 'enable the rule')
    .action(async (rule: AlertRuleName, { on, off, ...fields }: Options, command: Command) => {
      const out = outputOf(cli, command);
      const enabled = off ? false : on;
      const held = await clientOf(cli, command).alerts.setRule(rule, { ...fields, enabled });
      if (out.json) return out.document(held);
      out.table(ruleTable([held], out.width));
    });
}

function addUnset(alerts: Command, cli: Cli): void {
  alerts
    .command('unset')
    .description('Remove a change: the configuration or the default applies again.')
    .argument('<rule>', 'the name of the rule', alertRule)
    .addOption(definitionOption(OF_ONE))
    .action(async (rule: AlertRuleName, scope: { definitionKey?: string }, command: Command) => {
      const out = outputOf(cli, command);
      await clientOf(cli, command).alerts.unsetRule(rule, scope);
      if (out.json) out.document({ rule, definitionKey: scope.definitionKey ?? null });
      else out.lines([rule]);
    });
}
