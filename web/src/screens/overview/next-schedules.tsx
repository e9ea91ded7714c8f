import { Link } from '@tanstack/react-router';
import { Moment } from '../../parts/moment.tsx';
import { Panel } from '../../parts/panel.tsx';
import { cronWords } from '../../words/queues/cron-words.ts';
import { nameOf } from '../../../../src/core/problems/problems.ts';
import type { Overview } from './use-overview.ts';

const SHOWN_MAX = 5;

export function NextSchedules({ overview: { schedules } }: { overview: Overview }) {
  const next = schedules
    .filter(({ enabled, nextAt }) => enabled && nextAt !== null)
    .sort((a, b) => (a.nextAt ?? '').localeCompare(b.nextAt ?? ''))
    .slice(0, SHOWN_MAX);
  if (next.length === 0) return null;
  return (
    <Panel title="Next schedules" aside={<Link to="/schedules">All schedules</Link>}>
      <ul className="mini">
        {next.map((schedule) => (
          <li key={schedule.id}>
            <span className="mini-name">
              <Link to="/schedules/$scheduleId" params={{ scheduleId: schedule.id }}>
                {nameOf(schedule)}
              </Link>
            </span>
            <Moment at={schedule.nextAt} />
            <span className="soft mini-whole">
              {schedule.definitionKey} · {cronWords(schedule.cron)} ({schedule.timezone})
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
