import type { Bulk, BulkPreview, Job, Longshore } from '../../client/index.ts';
import type { Cli } from '../cli.ts';
import { columns } from './columns.ts';
import { confirm } from '../options/confirm.ts';
import { noteUnknown } from '../options/known-definition.ts';
import { idCell } from './id-cell.ts';
import { errorRow } from '../../core/failure/failure-words.ts';
import { age } from '../../core/values/duration.ts';
import { bulkSentence, endsWords, isSettled } from '../../core/job/bulk-words.ts';
import { previewedJobs, retryEnds } from './jobs/retry-ends.ts';
import { exitCode } from '../exit-codes.ts';
import type { Output } from './output.ts';
import { printable } from '../../core/values/printable.ts';

/** Options of a bulk action on the command line. */
export interface BulkWork {
  preview?: boolean | undefined;
  dryRun?: boolean | undefined;
  yes?: boolean | undefined;
  wait?: boolean | undefined;
}

export interface ManyJobs {
  action: string;
  work: BulkWork;
  /** Of the filter, if it names one. */
  definitionKey?: string | undefined;
  preview: () => Promise<BulkPreview>;
  start: () => Promise<Bulk>;
}

/** Counts, shows, confirms, starts and waits. Without a terminal `--yes` is required. */
export async function startMany(
  cli: Cli,
  out: Output,
  client: Longshore,
  { action, work, definitionKey, preview, start }: ManyJobs,
): Promise<void> {
  const isDry = work.preview || work.dryRun;
  // A retry counts afterwards how its jobs ended, so it has to know them.
  const reports = action === 'retry' && !out.json && work.wait !== false;
  const found = isDry || !work.yes || reports ? await preview() : null;
  if (found && isDry) {
    tellPreview(out, found);
    if (found.matched === 0) await noteUnknown(out, client, definitionKey);
    return;
  }
  if (found && !work.yes) {
    const { matched, matchedIsExact } = found;
    if (matched === 0) {
      out.note('No matching jobs.');
      return await noteUnknown(out, client, definitionKey);
    }
    const jobs = count(matched, matchedIsExact);
    const examples = sampleLines(found.sample.slice(0, EXAMPLES), out.width);
    const left = matched - examples.length;
    const more = left > 0 ? [`… and ${matchedIsExact ? '' : 'at least '}${left} more`] : [];
    const refusal = `this would ${action} ${jobs}: add --yes to confirm, or --dry-run to see them`;
    const question = [...examples, ...more, `${capital(action)} ${jobs}?`].join('\n');
    if (!(await confirm(cli, question, refusal))) return out.note('Nothing changed.');
  }
  const begun = await start();
  const bulk = work.wait === false ? begun : await waitFor(cli, out, client, begun);
  if (bulk.failed > 0) cli.exitCode = exitCode('failed');
  if (out.json) return out.document(bulk);
  out.lines([bulk.bulkId]);
  out.note(await bulkReport(client, bulk, out.next, found && previewedJobs(found)));
}

/** What a bulk action did, and how the jobs of a retry ended. */
export async function bulkReport(
  client: Longshore,
  bulk: Bulk,
  next: (command: string) => string,
  known: readonly string[] | null = null,
): Promise<string> {
  // A key that may not count has made its change.
  const { note, failed, done, status, bulkId } = bulk;
  const ends = done === 0 ? null : await retryEnds(client, bulk, known).catch(() => null);
  const isOpen = status === 'running' || (known && ends && !isSettled(bulk, ends));
  const parts = [
    bulkSentence(bulk),
    ...(failed > 0 ? [`The last error: ${note ?? 'unknown'}.`] : []),
    ...(ends ? [endsWords(done, ends)] : []),
    ...(isOpen ? [`Show it with: ${next(`bulk show ${bulkId}`)}`] : []),
  ];
  return printable(parts.join(' '));
}

/** Shows a progress bar on a terminal; after Ctrl-C the action continues. */
async function waitFor(cli: Cli, out: Output, client: Longshore, begun: Bulk): Promise<Bulk> {
  const leaving = new AbortController();
  cli.onSignal = () => leaving.abort();
  try {
    return await client.bulk.wait(begun.bulkId, {
      signal: leaving.signal,
      onProgress: (bulk) => {
        if (out.isTerminal) out.status(progressBar(bulk));
      },
    });
  } catch (error) {
    if (!leaving.signal.aborted) throw error;
    cli.exitCode = exitCode('interrupted');
    out.note(`The action continues. Show it with: ${out.next(`bulk show ${begun.bulkId}`)}`);
    return begun;
  } finally {
    cli.onSignal = null;
    if (out.isTerminal) out.status('');
  }
}

function tellPreview(out: Output, preview: BulkPreview): void {
  if (out.json) return out.document(preview);
  const { matched, matchedIsExact, sample } = preview;
  out.note(`${count(matched, matchedIsExact)} would be changed.`);
  out.lines(sampleLines(sample, out.width));
}

/** Jobs shown before a question. */
const EXAMPLES = 3;

function sampleLines(sample: readonly Job[], width: number): string[] {
  return columns(
    sample.map((job) => [
      idCell(job.jobId, width),
      job.definitionKey,
      job.status,
      job.error === null ? '' : errorRow(job.error),
    ]),
    width,
  );
}

const BAR_WIDTH = 30;

export function progressBar({ done, skipped, failed, matched, matchedIsExact }: Bulk): string {
  const seen = done + skipped + failed;
  const share = matched === 0 ? 1 : Math.min(1, seen / matched);
  const full = Math.floor(share * BAR_WIDTH);
  const bar = '#'.repeat(full).padEnd(BAR_WIDTH, '.');
  return `[${bar}] ${seen} of ${matchedIsExact ? '' : 'at least '}${matched}`;
}

const HEADER = ['ID', 'ACTION', 'STATUS', 'DONE', 'SKIPPED', 'FAILED', 'MATCHED', 'AGE'];

export function bulkTable(bulks: readonly Bulk[], now: Date, widthMax: number): string[] {
  const rows = bulks.map((bulk) => [
    idCell(bulk.bulkId, widthMax),
    bulk.action,
    bulk.status,
    String(bulk.done),
    String(bulk.skipped),
    String(bulk.failed),
    `${bulk.matched}${bulk.matchedIsExact ? '' : '+'}`,
    age(now.getTime() - Date.parse(bulk.createdAt)),
  ]);
  return columns([HEADER, ...rows], widthMax);
}

function count(matched: number, exact: boolean): string {
  if (matched === 1 && exact) return '1 job';
  return `${exact ? '' : 'at least '}${matched} jobs`;
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
