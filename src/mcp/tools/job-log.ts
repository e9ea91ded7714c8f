import type { JobLog } from '../../client/index.ts';
import { LEVELS } from '../../core/views/history.ts';
import { closed, oneOf, text, whole } from '../../protocol/fields.ts';
import { findJob } from '../find.ts';
import { tool } from '../tool.ts';
import { facts } from '../text/facts.ts';
import { earlierText, lastWithin, lineFilter, lineText } from '../text/log-lines.ts';

const LINES_DEFAULT = 40;
const LINES_MAX = 200;
/** A longer log is read in parts. */
const SEARCHED_MAX = 20_000;

export const jobLog = tool({
  name: 'job_log',
  title: 'Log of a job',
  description:
    'The log of a job: its last lines, or with after the lines from there on. Filter by attempt, ' +
    'lowest level and text. nextAfter continues where the answer ends, also for new lines of a ' +
    'running job.',
  scope: 'jobs:read',
  effect: 'reads',
  idempotent: true,
  input: closed({
    jobId: text(36).describe('The id of the job, or the beginning or end of it.'),
    lines: whole(1, LINES_MAX)
      .default(LINES_DEFAULT)
      .describe(`The most lines. Default ${LINES_DEFAULT}.`),
    attempt: whole(1, 1_000_000).optional().describe('Only lines of this attempt.'),
    level: oneOf('level', LEVELS).optional().describe('Only lines of this level or a worse one.'),
    contains: text(200).optional().describe('Only lines with this text, in any case.'),
    after: text(200)
      .optional()
      .describe(
        'Only lines after nextAfter of an earlier answer; "start": from the first line on.',
      ),
  }),
  run: async ({ jobId: typed, lines, attempt, level, contains, after }, { client, signal }) => {
    const jobId = await findJob(client, typed);
    const fits = lineFilter(level, contains);
    const kept: JobLog[] = [];
    const cursor = after === 'start' ? undefined : after;
    let last = cursor;
    let searched = 0;
    let found = 0;
    let isWhole = true;
    for await (const line of client.logs(jobId, { attempt, cursor, signal })) {
      const isFull = after !== undefined && kept.length === lines;
      if (isFull || searched === SEARCHED_MAX) {
        isWhole = false;
        break;
      }
      searched += 1;
      last = line.id;
      if (!fits(line)) continue;
      found += 1;
      kept.push(line);
      if (kept.length > lines) kept.shift();
    }
    const shown = lastWithin(kept.map(lineText));
    return facts({
      jobId,
      log: shown.join('\n'),
      none: noneText(found, searched, cursor !== undefined),
      earlier: earlierText(found, shown.length),
      later: isWhole ? null : 'The log has later lines: call again with after = nextAfter.',
      nextAfter: last,
    });
  },
});

function noneText(found: number, searched: number, isLater: boolean): string | null {
  if (found > 0) return null;
  if (searched > 0) return `None of the ${searched} lines matches.`;
  return isLater ? 'No later lines.' : 'The log is empty.';
}
