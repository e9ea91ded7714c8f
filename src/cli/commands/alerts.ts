import { type Command, Option } from 'commander';
import type { AlertFilter, AlertRuleOptions } from '../../client/index.ts';
import type { AlertRuleName } from '../../core/views/alert.ts';
import { alertTable, ruleTable } from '../text/alert-text.ts';
import type { Cli } from '../cli.ts';
import { alertRule, whole } from '../options/option-values.ts';
import { addPage } from '../options/page-options.ts';
import { clientOf, outputOf } from '../session.ts';

const OF_ONE = ['--definition-key <key>', 'for this definition only'] as const;

export function addAlerts(program: Command, cli: Cli): void {
  const alerts = program
    .command('alerts')
    .summary('list alerts and change their rules')
    .description('List alerts, and change the rules that fire them.');
  addList(alerts, cli);
  addRules(alerts, cli);
  addSet(alerts, cli);
  addUnset(alerts, cli);
}

function addList(alerts: Command, cli: Cli): void {
  const list = alerts
    .command('list', { isDefault: true })
    .description('List firing alerts, newest first; with --all also resolved ones.')
    .option('--all', 'also list resolved alerts')
    .option('--rule <rule>', 'only alerts of this rule', alertRule)
    .option('--definition-key <key>', 'only alerts of this definition');
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
    .option(...OF_ONE)
    .option('--threshold <number>', 'fire at this value or above', whole)
    .option('--window-seconds <number>', 'length of the window', whole)
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
    .option(...OF_ONE)
    .action(async (rule: AlertRuleName, scope: { definitionKey?: string }, command: Command) => {
      const out = outputOf(cli, command);
      await clientOf(cli, command).alerts.unsetRule(rule, scope);
      if (out.json) out.document({ rule, definitionKey: scope.definitionKey ?? null });
      else out.lines([rule]);
    });
}
