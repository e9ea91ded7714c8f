import type { Command } from 'commander';
import { statusWord, takesNoJobs, workerName } from '../../core/queue/worker.ts';
import type { WorkerInfo } from '../../client/index.ts';
import { unknownName } from '../../core/values/nearest.ts';
import type { Cli } from '../cli.ts';
import { columns } from '../text/columns.ts';
import { findWorkerId } from '../options/find-id.ts';
import { idCell } from '../text/id-cell.ts';
import { age } from '../../core/values/duration.ts';
import { clientOf, outputOf } from '../session.ts';
import { UsageError } from '../options/usage-error.ts';

export function addWorkers(program: Command, cli: Cli): void {
  const workers = program
    .command('workers')
    .summary('list workers, or drain one')
    .description('List workers with their running jobs and last heartbeat.')
    .allowExcessArguments()
    .action(async (_options: unknown, command: Command) => {
      // Otherwise a misspelt `drain` would be reported as "too many arguments".
      const [word] = command.args;
      if (word !== undefined) throw new UsageError(unknownName('command', word, ['drain']));
      const out = outputOf(cli, command);
      const found = await clientOf(cli, command).workers();
      if (out.json) out.document({ workers: found });
      else if (found.length > 0) {
        out.table(table(found, cli.clock.now(), out.width));
        for (const line of notLoadedLines(found)) out.note(line);
      } else out.note('No workers.');
    });
  workers
    .command('drain')
    .summary('drain a worker')
    .description('Ask a worker to claim no more jobs, finish its running jobs and exit.')
    .argument('<id>', 'the id of the worker')
    .allowExcessArguments(false)
    .action(async (typed: string, _options: unknown, command: Command) => {
      const out = outputOf(cli, command);
      const client = clientOf(cli, command);
      const receipt = await client.drainWorker(await findWorkerId(client, typed));
      if (out.json) out.document(receipt);
      else out.lines(columns([[receipt.workerId, receipt.status]]));
    });
}

const HEADER = ['ID', 'STATUS', 'RUNNING', 'HEARTBEAT', 'AGE', 'VERSION', 'HOST'];

function table(workers: readonly WorkerInfo[], now: Date, widthMax: number): string[] {
  const agoOf = (time: string) => age(now.getTime() - Date.parse(time));
  const rows = workers.map((worker) => [
    idCell(worker.workerId, widthMax),
    takesNoJobs(worker, now.getTime()) ? 'takes no jobs' : statusCell(worker),
    `${worker.busy}/${worker.slots}`,
    agoOf(worker.heartbeatAt),
    agoOf(worker.startedAt),
    worker.version,
    `${workerName(worker)}${worker.transport !== 'http' ? '' : ` over HTTP from ${worker.address}`}`,
  ]);
  return columns([HEADER, ...rows], widthMax);
}

/** A worker whose parent saw its end has the cause beside it: "dead (SIGKILL)". */
function statusCell(worker: WorkerInfo): string {
  const word = statusWord(worker);
  return worker.endedBy === null ? word : `${word} (${worker.endedBy})`;
}

/** Under the table: a reason is longer than a column. */
function notLoadedLines(workers: readonly WorkerInfo[]): string[] {
  return workers
    .filter(({ status }) => status !== 'dead')
    .flatMap((worker) =>
      worker.notLoaded.map((text) => `Not loaded by ${workerName(worker)}: ${text}`),
    );
}
