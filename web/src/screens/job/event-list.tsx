import { useQuery } from '@tanstack/react-query';
import type { JobView } from '../../../../src/core/job/job.ts';
import type { EventView } from '../../../../src/core/views/history.ts';
import type { WorkerView } from '../../../../src/core/queue/worker.ts';
import { eventsQuery, workersQuery } from '../../api/queries.ts';
import { Panel } from '../../parts/panel.tsx';
import { eventTitle, eventWords } from '../../words/jobs/event-words.ts';
import { clockTimeWithMs, dayOf, fullMoment } from '../../words/moment.ts';

export function EventList({ job }: { job: JobView }) {
  const { data } = useQuery(eventsQuery(job.jobId, job));
  const { data: workers = [] } = useQuery(workersQuery());
  if (!data || data.events.length === 0) return null;
  return (
    <Panel title="Events">
      <ol className="events" tabIndex={0} aria-label="Events, oldest first">
        {data.events.map((event, index) => (
          <EventLine
            key={event.id}
            event={event}
            before={data.events[index - 1]}
            workers={workers}
          />
        ))}
      </ol>
      {data.nextCursor !== null && <p className="soft">Later events are not shown here.</p>}
    </Panel>
  );
}

function EventLine({
  event,
  before,
  workers,
}: {
  event: EventView;
  before: EventView | undefined;
  workers: readonly WorkerView[];
}) {
  const day = dayOf(event.at);
  return (
    <li className={`event event-${event.type}`}>
      {(before === undefined || dayOf(before.at) !== day) && (
        <span className="event-day">{day}</span>
      )}
      <time dateTime={event.at} title={fullMoment(event.at)}>
        {clockTimeWithMs(event.at)}
      </time>
      <span className="event-type">{eventTitle(event)}</span>
      <span className="soft">{event.attempt === null ? '' : `attempt ${event.attempt}`}</span>
      <span className="event-words">{eventWords(event, workers)}</span>
    </li>
  );
}
