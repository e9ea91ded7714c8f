import type { Job, JobHandle } from '../../../../client/index.ts';
import { isTerminal } from '../../../../core/job/job.ts';
import { printable, printableJson } from '../../../../core/values/printable.ts';
import { sentence } from '../../../../core/views/sentence.ts';
import type { Cli } from '../../../cli.ts';
import { exitCode } from '../../../exit-codes.ts';
import { jobText } from '../../../text/jobs/job-text.ts';
import { LiveStatus } from '../../../text/live-status.ts';
import type { Output } from '../../../text/output.ts';
import { waitingStep, waitingText } from '../../../text/jobs/waiting-text.ts';
import { warningText } from './await-worker.ts';
import { LogAbove } from './log-above.ts';

/** Between two redraws of the status line, and between two looks at the job. */
const REDRAW_MS = 200;
const LOOK_MS = 500;
/** After its end, the last log lines have this time to arrive. */
const LAST_LINES_MS = 2_000;

/**
 * Waits for the end of a job and shows it meanwhile: on a terminal a line that changes, with the
 * log above it; elsewhere plain lines on stderr.
 */
export async function waitForJob(
  cli: Cli,
  out: Output,
  handle: JobHandle,
  timeoutMs: number | undefined,
): Promise<void> {
  const status = new LiveStatus(out);
  cli.onSignal = () => {
    status.end();
    out.note(`The job continues. Show it with: ${out.next(`show ${handle.id}`)}`);
    cli.exit(exitCode('interrupted'));
  };
  out.note(`job ${handle.id}`);
  const job = out.json
    ? await handle.wait({ timeoutMs })
    : await watch(cli, out, handle, status, timeoutMs);
  const { largeResult } = job;
  const result = largeResult && !out.json ? await handle.result() : job.result;
  tell(cli, out, out.isScreen ? job : { ...job, result });
  cli.exitCode = exitCode(job.status === 'succeeded' ? 'ok' : 'failed');
}

async function watch(
  cli: Cli,
  out: Output,
  handle: JobHandle,
  status: LiveStatus,
  timeoutMs: number | undefined,
): Promise<Job> {
  let seen: Job | null = null;
  const over = new AbortController();
  const log = new LogAbove(out, handle, status, over.signal);
  const steps = stepNotes(cli, out, status, log);
  const redraw = setInterval(() => {
    if (seen) status.show(waitingText(seen, cli.clock.now()));
  }, REDRAW_MS);
  const following = log.follow();
  let told = Promise.resolve();
  try {
    const onPoll = (job: Job) => {
      seen = job;
      told = steps(job, told);
    };
    const job = await handle.wait({ timeoutMs, pollMs: LOOK_MS, onPoll });
    const timer = setTimeout(() => over.abort(), LAST_LINES_MS);
    await Promise.all([following, told]);
    clearTimeout(timer);
    return job;
  } finally {
    clearInterval(redraw);
    over.abort();
    status.end();
  }
}

/**
 * What stays readable: failed attempts, what may make the wait endless, and without a terminal each
 * step. One after the other, and the log of an attempt before its end.
 */
function stepNotes(
  cli: Cli,
  out: Output,
  status: LiveStatus,
  log: LogAbove,
): (job: Job, before: Promise<void>) => Promise<void> {
  let told = '';
  let unserved = false;
  return async (job, before) => {
    if (isTerminal(job.status)) return await before;
    const alone = job.warnings.some(({ code }) => code === 'UNSERVED');
    if (alone && !unserved) {
      const detail = `no running worker has "${job.definitionKey}"; still waiting for one`;
      status.above(warningText(out, detail));
    }
    unserved = alone;
    const step = waitingStep(job);
    const changed = step !== told;
    told = step;
    status.show(waitingText(job, cli.clock.now()));
    const stays = !out.isTerminal || job.status === 'retrying';
    const words = printable(sentence(job, cli.clock.now()));
    await before;
    if (!changed || !stays || alone) return;
    if (job.status === 'retrying') await log.catchUp();
    status.above(words);
  };
}

/** A pipe gets the result alone; a person gets the whole job. */
function tell(cli: Cli, out: Output, job: Job): void {
  const now = cli.clock.now();
  if (out.json) return out.document(job);
  if (out.isScreen) return out.lines(jobText(job, now));
  const words = printable(sentence(job, now));
  if (job.status === 'succeeded') {
    out.note(words);
    out.lines([printableJson(job.result)]);
  } else {
    out.trouble(words);
    out.note(`show it with: ${out.next(`show ${job.jobId}`)}`);
  }
}
