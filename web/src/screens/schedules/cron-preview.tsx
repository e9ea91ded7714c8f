import { useQuery } from '@tanstack/react-query';
import { isTimezone } from '../../../../src/core/alert/quiet-hours.ts';
import { previewQuery } from '../../api/queries.ts';
import { errorText, isRefused } from '../../api/problem-error.ts';
import { Moment } from '../../parts/moment.tsx';
import { useSettled } from '../../runtime/settled.ts';
import { momentIn } from '../../words/moment.ts';
import { cronSentence, cronWords } from '../../words/queues/cron-words.ts';
import { violationWords } from '../../words/queues/timing-words.ts';
import { bodyOf, type ScheduleDraft } from '../../words/queues/schedule-draft.ts';

const SHOWN = 5;
const TYPING_MS = 250;

/** The expression in words, and its next runs as the server computes them, while typing. */
export function CronPreview({ draft }: { draft: ScheduleDraft }) {
  const settled = useSettled(draft, TYPING_MS);
  const read = bodyOf(settled, null);
  const timing = 'body' in read ? timingOf(read.body) : null;
  const { data: next, error } = useQuery({
    ...previewQuery(timing ?? {}, SHOWN),
    enabled: timing !== null,
  });
  const cron = draft.cron.trim();
  // A sentence about a time zone that does not exist would be wrong.
  const sentence = error
    ? null
    : cronWords(cron) === cron
      ? cron
      : cronSentence(cron, draft.timezone);
  return (
    <div className="preview" role="status" aria-label="Next runs">
      {sentence !== null && <p className="sentence">{sentence}</p>}
      {error ? (
        <p className="wrong">{isRefused(error) ? refusal(error) : errorText(error)}</p>
      ) : (
        <ol className="mini">
          {/* While a new time zone is looked up, the runs of the last one are shown. */}
          {(isTimezone(settled.timezone) ? (next ?? []) : []).map(({ at, note }) => (
            <li key={at}>
              <span className="mini-name">
                {momentIn(
                  at,
                  settled.timezone,
                  next?.map((one) => one.at),
                )}
              </span>
              <Moment at={at} />
              {note !== null && <span className="soft mini-whole">{note}</span>}
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}

const TIMING = ['cron', 'timezone', 'startAt', 'endAt', 'dstGap', 'dstRepeat'];

function timingOf(body: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(
    TIMING.flatMap((name) => (typeof body[name] === 'string' ? [[name, body[name]]] : [])),
  );
}

function refusal(error: {
  violations: readonly { pointer: string; detail: string }[];
  message: string;
}) {
  const [first] = error.violations;
  return first ? violationWords(first) : error.message;
}
