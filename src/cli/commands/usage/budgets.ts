import { type Command, InvalidArgumentError, Option } from 'commander';
import type { BudgetMeasure, BudgetPeriod } from '../../../core/usage/budget.ts';
import { BUDGET_PERIODS } from '../../../core/usage/budget.ts';
import type { Cli } from '../../cli.ts';
import { confirm } from '../../options/confirm.ts';
import { definitionOption } from '../../options/definition-option.ts';
import { noteUnknown } from '../../options/known-definition.ts';
import { UsageError } from '../../options/usage-error.ts';
import { clientOf, outputOf } from '../../session.ts';
import { budgetTable } from '../../text/usage-text.ts';

const NAME = ['<name>', 'the name of the budget'] as const;

export function addBudgets(program: Command, cli: Cli): void {
  const budgets = program
    .command('budgets')
    .summary('set how much jobs should use; alerts fire above')
    .description(
      'Set how much jobs should use per day or month. Alerts fire above; no job is stopped.',
    );
  addList(budgets, cli);
  addSet(budgets, cli);
  addDelete(budgets, cli);
}

function addList(budgets: Command, cli: Cli): void {
  budgets
    .command('list', { isDefault: true })
    .description('List budgets with what is used in the current day or month (UTC).')
    .action(async (_options: unknown, command: Command) => {
      const out = outputOf(cli, command);
      const all = await clientOf(cli, command).budgets.list();
      if (out.json) return out.document({ budgets: all });
      if (all.length === 0) out.note('No budgets.');
      else out.table(budgetTable(all, out.width));
    });
}

interface Options extends Partial<Record<BudgetMeasure, number>> {
  definitionKey?: string;
  per?: BudgetPeriod;
}

function addSet(budgets: Command, cli: Cli): void {
  budgets
    .command('set')
    .description('Create a budget, or replace the one of this name.')
    .argument(...NAME)
    .option('--cpu-seconds <number>', 'at most this much CPU time', amount)
    .option('--run-seconds <number>', 'at most this much run time', amount)
    .option('--jobs <number>', 'at most so many jobs', amount)
    .addOption(new Option('--per <period>', 'day or month; default day').choices(BUDGET_PERIODS))
    .addOption(definitionOption('only jobs of this definition'))
    .action(async (name: string, options: Options, command: Command) => {
      const { definitionKey, per: period = 'day', ...amounts } = options;
      const [one, ...more] = Object.entries(amounts) as [BudgetMeasure, number][];
      if (!one || more.length > 0) {
        throw new UsageError('give one of --cpu-seconds, --run-seconds and --jobs');
      }
      const [measure, value] = one;
      const out = outputOf(cli, command);
      const client = clientOf(cli, command);
      const body = { definitionKey, measure, period, amount: value };
      const saved = await client.budgets.set(name, body);
      if (out.json) out.document(saved);
      else out.table(budgetTable([saved], out.width));
      await noteUnknown(out, client, definitionKey);
    });
}

function addDelete(budgets: Command, cli: Cli): void {
  budgets
    .command('delete')
    .description('Delete a budget. Its alerts are resolved.')
    .argument(...NAME)
    .option('--yes', 'do not ask for confirmation')
    .action(async (name: string, options: { yes?: true }, command: Command) => {
      const out = outputOf(cli, command);
      if (!options.yes && !(await confirm(cli, `Delete the budget ${name}?`))) {
        return out.note('Nothing was deleted.');
      }
      await clientOf(cli, command).budgets.delete(name);
      if (out.json) out.document({ name, deleted: true });
      else out.lines([name]);
    });
}

function amount(value: string): number {
  const given = /^\d{1,13}(\.\d+)?$/.test(value) ? Number(value) : 0;
  if (given > 0) return given;
  throw new InvalidArgumentError('Must be a number above 0.');
}
