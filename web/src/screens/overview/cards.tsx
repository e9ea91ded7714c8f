import { Link, type LinkProps } from '@tanstack/react-router';
import type { JobState } from '../../../../src/core/job.ts';
import type { JobPage } from '../../api/queries.ts';
import { useNow } from '../../runtime/clock.ts';
import { wholeSeconds } from '../../words/moment.ts';
import { sumOf } from '../../words/throughput.ts';
import { countOf, type Overview, timesFailed } from './use-overview.ts';

export function Cards({ overview }: { overview: Overview }) {
  const { failures, queued, running, retrying, workers, stats } = overview;
  const count = (page: JobPage, ...states: JobState[]) =>
    stats ? sumOf(states.map((state) => stats.totals[state])).toLocaleString('en') : countOf(page);
  const hasFailed = failures.groups.length > 0;
  const now = useNow();
  const alive = workers.filter(({ status }) => status !== 'dead');
  const slots = alive.reduce((sum, worker) => sum + worker.slots, 0);
  const [oldest] = queued.jobs;
  const waitedMs = oldest ? now.getTime() - Date.parse(oldest.queuedAt ?? oldest.createdAt) : 0;
  const next = retrying.jobs.map(({ runAt }) => runAt ?? '').sort()[0];
  return (
    <ul className="cards">
      <Card
        title="Failed in 24 h"
        value={timesFailed(overview)}
        tone={hasFailed ? 'bad' : ''}
        note={hasFailed ? 'dead letters' : 'no dead letters'}
        to="/dead-letters"
        search={{ window: '24h' }}
      />
      <Card
        title="Retrying"
        value={count(retrying, 'retrying')}
        tone={retrying.jobs.length > 0 ? 'warn' : ''}
        note={next ? `next ${until(next, now)}` : 'nothing waits for another try'}
        to="/jobs"
        search={{ status: ['retrying'] }}
      />
      <Card
        title="Queued"
        value={count(queued, 'queued')}
        note={oldest ? `the oldest for ${wholeSeconds(waitedMs)}` : 'nothing waits'}
        to="/jobs"
        search={{ status: ['queued'], sort: 'createdAt' }}
      />
      <Card
        title="Running"
        value={count(running, 'running', 'cancelling')}
        note={`of ${slots} slots`}
        to="/jobs"
        search={{ status: ['running', 'cancelling'] }}
      />
      <Card
        title="Workers"
        value={String(alive.length)}
        tone={alive.length === 0 ? 'bad' : ''}
        note={draining(alive.filter(({ status }) => status === 'draining').length)}
        to="/workers"
      />
    </ul>
  );
}

function Card({
  title,
  value,
  note,
  tone = '',
  ...link
}: { title: string; value: string; note: string; tone?: string } & Pick<
  LinkProps,
  'to' | 'search'
>) {
  return (
    <li className={`card ${tone}`}>
      <Link {...link}>
        <span className="card-title">{title}</span>
        <span className="card-value">{value}</span>
        <span className="card-note">{note}</span>
      </Link>
    </li>
  );
}

function draining(count: number): string {
  return count === 0 ? 'alive' : `alive, ${count} draining`;
}

function until(at: string, now: Date): string {
  const leftMs = Date.parse(at) - now.getTime();
  return leftMs <= 0 ? 'now' : `in ${wholeSeconds(leftMs)}`;
}
