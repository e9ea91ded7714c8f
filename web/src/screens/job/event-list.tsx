import { useQuery } from '@tanstack/react-query';
import type { JobView } from '../../../../src/core/job.ts';
import type { EventView } from '../../../../src/core/story.ts';
import { eventsQuery } from '../../api/queries.ts';
import { Panel } from '../../parts/panel.tsx';
import { plainText } from '../../words/log-tail.ts';
import { clockTime, fullMoment } from '../../words/moment.ts';

/** What happened, in order. */
export function EventList({ job }: { job: JobView }) {
  const { data } = useQuery(eventsQuery(job.jobId, job));
  if (!data || data.events.length === 0) return null;
  return (
    <Panel title="Events">
      <ol className="events" tabIndex={0} aria-label="Events, the first one first">
        {data.events.map((event) => (
          <EventLine key={event.id} event={event} />
        ))}
      </ol>
      {data.nextCursor !== null && <p className="soft">Later events are not shown here.</p>}
    </Panel>
  );
}

function EventLine({ event }: { event: EventView }) {
  const payload = payloadText(event.payload);
  return (
    <li className={`event event-${event.type}`}>
      <time dateTime={event.at} title={fullMoment(event.at)}>
        {clockTime(event.at)}
      </time>
      <span className="event-type">{event.type.replaceAll('_', ' ')}</span>
      <span className="soft">{event.attempt === null ? '' : `attempt ${event.attempt}`}</span>
      {payload !== '' && <code className="event-payload">{payload}</code>}
    </li>
  );
}

const PAYLOAD_LENGTH = 300;

function payloadText(payload: unknown): string {
  if (payload === null || payload === undefined) return '';
  const text = plainText(JSON.stringify(payload));
  if (text === '{}') return '';
  return text.length > PAYLOAD_LENGTH ? `${text.slice(0, PAYLOAD_LENGTH)}…` : text;
}
