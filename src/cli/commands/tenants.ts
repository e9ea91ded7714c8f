import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { clientOf, outputOf } from '../session.ts';
import { tenantTable } from '../text/tenant-text.ts';

export function addTenants(program: Command, cli: Cli): void {
  const tenants = program
    .command('tenants')
    .summary('list or create tenants')
    .description('List and create tenants, which own jobs, schedules and keys.');
  tenants
    .command('list')
    .description('List the tenants with limits, weights and pauses.')
    .action(async (_options: unknown, command: Command) => {
      const out = outputOf(cli, command);
      const found = await clientOf(cli, command).tenants.list();
      if (out.json) out.document({ tenants: found });
      else out.table(tenantTable(found, out.width));
    });
  tenants
    .command('create')
    .description('Create a tenant.')
    .argument('<name>', 'lowercase letters, digits and -')
    .action(async (name: string, _options: unknown, command: Command) => {
      const out = outputOf(cli, command);
      const made = await clientOf(cli, command).tenants.create(name);
      if (out.json) return out.document(made);
      out.lines([made.tenant]);
      const next = out.next(`keys create --tenant ${name} --scope admin`);
      out.note(`Create its first key with: ${next}`);
    });
}
