import { Command } from 'commander';
import { SETTINGS } from '../config/schema.ts';
import type { Cli } from './cli.ts';
import { addAlerts } from './commands/alerts/alerts.ts';
import { addAudit } from './commands/audit.ts';
import { addBatch } from './commands/jobs/batch.ts';
import { addBench } from './commands/bench.ts';
import { addBulk } from './commands/jobs/bulk.ts';
import { addChanges } from './commands/jobs/change.ts';
import { addCompletion } from './commands/completion.ts';
import { addConformance } from './commands/conformance.ts';
import { addConfig } from './commands/config.ts';
import { addDefinitions } from './commands/jobs/definitions.ts';
import { addDeploy } from './commands/deploy.ts';
import { addDeployments } from './commands/deployments.ts';
import { addDev } from './commands/dev.ts';
import { addDlq } from './commands/jobs/dlq.ts';
import { addDoctor } from './commands/doctor.ts';
import { addEncryption } from './commands/encryption.ts';
import { addEnqueue } from './commands/jobs/enqueue.ts';
import { addExport } from './commands/jobs/export.ts';
import { addFlow } from './commands/flow.ts';
import { addIssues } from './commands/jobs/issues.ts';
import { addKeys } from './commands/keys.ts';
import { addImport } from './commands/ingest/import.ts';
import { addIngest } from './commands/ingest/ingest.ts';
import { addInit } from './commands/init.ts';
import { addList } from './commands/jobs/list.ts';
import { addLogs } from './commands/jobs/logs.ts';
import { addStream } from './commands/jobs/stream.ts';
import { addMcp } from './commands/mcp.ts';
import { addMigrate } from './commands/migrate.ts';
import { addReplay } from './commands/jobs/replay.ts';
import { addRoles } from './commands/roles.ts';
import { addRunDue } from './commands/run-due.ts';
import { addSecrets } from './commands/secrets.ts';
import { addSchedules } from './commands/schedules.ts';
import { addSessions } from './commands/sessions.ts';
import { addShow } from './commands/jobs/show.ts';
import { addSignalLink } from './commands/jobs/signal-link.ts';
import { addScale } from './commands/jobs/scale.ts';
import { addPlan } from './commands/scaling/plan.ts';
import { addShards } from './commands/scaling/shards.ts';
import { addSeries } from './commands/jobs/series.ts';
import { addStats } from './commands/jobs/stats.ts';
import { addTenants } from './commands/tenants.ts';
import { addTree } from './commands/jobs/tree.ts';
import { addTop } from './commands/jobs/top.ts';
import { addBudgets } from './commands/usage/budgets.ts';
import { addUsage } from './commands/usage/usage.ts';
import { addViews } from './commands/jobs/views.ts';
import { addWebhooks } from './commands/webhooks.ts';
import { addWorkers } from './commands/workers.ts';
import { EXIT_CODES } from './exit-codes.ts';
import { examplesHelp } from './text/help-examples.ts';
import { HELP_FORMAT, helpWidth } from './text/help-format.ts';
import { listAlone } from './options/list-alone.ts';
import { settingOption } from './options/setting-options.ts';
import { VERSION } from '../version.ts';

/** All commands; `main.ts` runs them, and a test compares docs/cli.md with them. */
export function createProgram(cli: Cli): Command {
  const program = new Command('longshore')
    .description('A job server for long-running work, on PostgreSQL.')
    .version(VERSION)
    .option('--json', 'print one JSON document; errors are problem+json on stderr')
    .option('-q, --quiet', 'print only errors on stderr')
    .option('--no-color', 'no colours, even on a terminal')
    .configureHelp(HELP_FORMAT)
    .configureOutput({
      writeOut: (text) => cli.stdout.write(text),
      writeErr: (text) => cli.stderr.write(text),
      getOutHelpWidth: () => helpWidth(cli.stdout),
      getErrHelpWidth: () => helpWidth(cli.stderr),
      // Errors are reported in one place, where --json is known.
      outputError: () => {},
    })
    .exitOverride()
    .addHelpText('after', exitCodesHelp);
  for (const setting of SETTINGS) {
    const option = setting.group === 'client' ? settingOption(setting) : null;
    if (option) program.addOption(option);
  }
  program.commandsGroup('Getting started:');
  addInit(program, cli);
  addDev(program, cli);
  program.commandsGroup('Run a server:');
  addRoles(program, cli);
  addIngest(program, cli);
  addRunDue(program, cli);
  addMigrate(program, cli);
  addDoctor(program, cli);
  program.commandsGroup('Jobs:');
  addEnqueue(program, cli);
  addShow(program, cli);
  addTree(program, cli);
  addLogs(program, cli);
  addStream(program, cli);
  addList(program, cli);
  addExport(program, cli);
  addViews(program, cli);
  addChanges(program, cli);
  addSignalLink(program, cli);
  addReplay(program, cli);
  addDlq(program, cli);
  addBatch(program, cli);
  addBulk(program, cli);
  addImport(program, cli);
  program.commandsGroup('Deployed code:');
  addDeploy(program, cli);
  addDeployments(program, cli);
  addSecrets(program, cli);
  program.commandsGroup('Operations:');
  addDefinitions(program, cli);
  addStats(program, cli);
  addSeries(program, cli);
  addUsage(program, cli);
  addBudgets(program, cli);
  addScale(program, cli);
  addShards(program, cli);
  addPlan(program, cli);
  addWorkers(program, cli);
  addSchedules(program, cli);
  addFlow(program, cli);
  addWebhooks(program, cli);
  addAlerts(program, cli);
  addKeys(program, cli);
  addSessions(program, cli);
  addEncryption(program, cli);
  addTenants(program, cli);
  addAudit(program, cli);
  addIssues(program, cli);
  addTop(program, cli);
  addBench(program, cli);
  addConformance(program, cli);
  addMcp(program, cli);
  program.commandsGroup('Command line:');
  addConfig(program, cli);
  addCompletion(program, cli);
  program.helpCommand('help [command]', 'print the help of a command');
  for (const command of program.commands) {
    command.addHelpText('after', examplesHelp(command.name()));
    listAlone(command);
  }
  return program;
}

function exitCodesHelp(): string {
  const lines = Object.values(EXIT_CODES).map(({ code, meaning }) => {
    return `  ${String(code).padEnd(5)}${meaning}`;
  });
  return ['', 'Exit codes:', ...lines].join('\n');
}
