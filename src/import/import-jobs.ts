import { type Accepted, type Chosen, enqueueAll } from './batches.ts';
import { importSchedules } from './import-schedules.ts';
import { type ImportReport, Counters } from './report.ts';
import { type ImportOptions, noKey, type Run } from './run.ts';
import type { Page } from './source.ts';

/**
 * Imports what waits in another system. A page of jobs is stored here first and removed there
 * afterwards, so a run that is killed loses nothing; the next run continues, and the idempotency keys
 * keep it from storing a job twice.
 */
export async function importJobs(options: ImportOptions): Promise<ImportReport> {
  const { source, onProgress, dryRun } = options;
  const counters = new Counters();
  const run = {
    ...options,
    counters,
    tag: `import:${source.system}`,
    newest: await newestOf(options),
  };
  let count = 0;
  for await (const page of source.pages()) {
    for (const left of page.left) counters.left(left);
    await importPage(run, page);
    count += page.jobs.length;
    if (page.jobs.length > 0) onProgress(count);
  }
  await importSchedules(run);
  return counters.report(source.system, dryRun);
}

async function importPage(run: Run, page: Page): Promise<void> {
  const { counters, client, tag, dryRun } = run;
  const chosen = page.jobs.flatMap((job): Chosen[] => {
    const definitionKey = run.map.keyOf(job.name);
    if (definitionKey !== null) return [{ job, definitionKey }];
    counters.refused({ queue: job.queue, reason: noKey(job.name), count: 1, examples: [job.id] });
    return [];
  });
  if (dryRun) {
    for (const { job, definitionKey } of chosen) counters.job(job, definitionKey, false);
    return;
  }
  const { accepted, refused } = await enqueueAll(client, tag, chosen);
  for (const { job, reason } of refused) {
    counters.refused({ queue: job.queue, reason, count: 1, examples: [job.id] });
  }
  for (const { job, definitionKey, jobId } of accepted) {
    counters.job(job, definitionKey, timeOf(jobId) <= run.newest);
  }
  if (run.remove) await removePage(run, page, accepted);
}

async function removePage({ counters }: Run, page: Page, accepted: readonly Accepted[]) {
  if (accepted.length === 0) return;
  const stayed = new Set(await page.remove(accepted.map(({ job }) => job.id)));
  counters.removed.jobs += accepted.length - stayed.size;
  for (const { job } of accepted.filter((one) => stayed.has(one.job.id))) {
    const reason = 'imported, but a worker there has taken it meanwhile';
    counters.left({ queue: job.queue, reason, count: 1, examples: [job.id] });
  }
}

/** Empty when nothing was imported before, or when the key may not read jobs. */
async function newestOf({ client, source, dryRun }: ImportOptions): Promise<string> {
  if (dryRun) return '';
  const tag = `import:${source.system}`;
  const page = await client.list({ tag, limit: 1 }).catch(() => ({ jobs: [] }));
  return timeOf(page.jobs[0]?.jobId ?? '');
}

/** The 48 bits of time at the front of a job id. */
function timeOf(jobId: string): string {
  return jobId.slice(0, 13);
}
