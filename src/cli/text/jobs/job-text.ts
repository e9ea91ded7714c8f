import type { Job, WorkerInfo } from '../../../client/index.ts';
import { foldedFrames } from '../../../core/failure/own-frames.ts';
import { isTerminal, type JobError } from '../../../core/job/job.ts';
import { VERSION_WHEN_DUE } from '../../../core/job/new-job.ts';
import { workerName } from '../../../core/queue/worker.ts';
import { duration } from '../../../core/values/duration.ts';
import { printable, printableJson, printableLines } from '../../../core/values/printable.ts';
import { DEFAULT_TENANT } from '../../../core/access/scope.ts';
import { shapeWords } from '../../../core/shape/shape-words.ts';
import { sentence } from '../../../core/views/sentence.ts';
import { toCall } from '../next-command.ts';

/** Output of `show`: the summary, then all known fields. */
export function jobText(job: Job, now: Date, workers: readonly WorkerInfo[] = []): string[] {
  const worker = workers.find(({ workerId }) => workerId === job.workerId);
  const facts: [name: string, lines: string[]][] = [
    ['id', [job.jobId]],
    ['definition', [printable(`${job.definitionKey} ${versionText(job)}`)]],
    ['owner', text(job.owner)],
    ['tenant', job.tenant === DEFAULT_TENANT ? [] : [printable(job.tenant)]],
    ['priority', job.priority === 0 ? [] : [String(job.priority)]],
    ['tags', text(job.tags.length === 0 ? null : job.tags.join(', '))],
    ['idempotency', text(job.idempotencyKey)],
    ['concurrency', text(job.concurrencyKey)],
    ['worker', text(worker ? `${workerName(worker)}, ${worker.workerId}` : job.workerId)],
    ['created', time(job.createdAt, now)],
    ['runs', isWaiting(job) ? time(job.runAt, now) : []],
    ['expires', isTerminal(job.status) ? [] : time(job.expiresAt ?? null, now)],
    ['started', time(job.startedAt, now)],
    ['finished', time(job.finishedAt, now)],
    [
      'warnings',
      job.warnings.map(({ code, detail }) => printable(detail ? `${code} (${detail})` : code)),
    ],
    ['shape', text(shapeWords(job))],
    ['params', job.largeParams ? large(job, 'params') : json(job.params)],
    ['result', job.status === 'succeeded' ? resultLines(job) : []],
    ['error', errorLines(job.error)],
  ];
  const known = facts.filter(([, lines]) => lines.length > 0);
  return [printable(sentence(job, now)), '', ...known.flatMap(indent)];
}

function versionText({ definitionVersion: version }: Job): string {
  return version === VERSION_WHEN_DUE ? '(version: when it is queued)' : `version ${version}`;
}

const NAME_WIDTH = 12;

function indent([name, lines]: [name: string, lines: string[]]): string[] {
  return lines.map((line, index) => `${(index === 0 ? name : '').padEnd(NAME_WIDTH)}${line}`);
}

function isWaiting({ status }: Job): boolean {
  return status === 'scheduled' || status === 'retrying';
}

function text(value: string | null): string[] {
  return value === null ? [] : [printable(value)];
}

function time(value: string | null, now: Date): string[] {
  if (value === null) return [];
  const agoMs = now.getTime() - Date.parse(value);
  return [`${value} (${agoMs < 0 ? `in ${duration(-agoMs)}` : `${duration(agoMs)} ago`})`];
}

function resultLines(job: Job): string[] {
  return job.largeResult ? large(job, 'result') : json(job.result);
}

function large({ jobId, largeParams, largeResult }: Job, kind: 'params' | 'result'): string[] {
  const { bytes = 0 } = (kind === 'params' ? largeParams : largeResult) ?? {};
  return [`${bytes} bytes: ${toCall(`show ${jobId} --${kind}`)}`];
}

function json(value: unknown): string[] {
  const short = printableJson(value);
  return short.length <= 80 ? [short] : printableJson(value, 2).split('\n');
}

/** The stack usually repeats the message, which is then omitted. `--json` has all frames. */
function errorLines(error: JobError | null): string[] {
  if (error === null) return [];
  const frames = foldedFrames(error.stack ?? '').map(printable);
  const cause = error.cause === null ? [] : errorLines(error.cause);
  return [
    ...printableLines(`${error.code} ${error.message}`),
    ...frames,
    ...cause.map((line, index) => (index === 0 ? `caused by ${line}` : line)),
  ];
}
