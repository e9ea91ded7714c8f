import { Link, type LinkProps } from '@tanstack/react-router';
import type { JobState } from '../../../../src/core/job/job.ts';
import { useNow } from '../../runtime/clock.ts';
import { wholeSeconds } from '../../words/moment.ts';
import { oldestSince } from '../../../../src/core/problems/problem.ts';
import { sumOf } from '../../words/alerts/throughput.ts';
import { slotsWords } from '../../words/alerts/slots-words.ts';
import { deadLetters, type Overview } from './use-overview.ts';

export function Cards({ overview }: { overview: Overview }) {
  const { failures, nextRetry, workers, stats, tenant } = overview;
  const sum = (...states: JobState[]) => sumOf(states.map((state) => stats.totals[state]));
  const count = (...states: JobState[]) => sum(...states).toLocaleString('en');
  const hasFailed = failures.groups.length > 0;
  const now = useNow();
  const alive = workers.filter(({ status }) => status !== 'dead');
  const [oldest] = stats.definitions.flatMap((one) => oldestSince(stats.at, one) ?? []).sort();
  const waitedMs = oldest ? now.getTime() - Date.parse(oldest) : 0;
  const next = nextRetry?.runAt ?? null;
  return (
    <ul className="cards">
      <Card
        title="Dead letters, 24 h"
        value={deadLetters(overview)}
        tone={hasFailed ? 'bad' : ''}
        note={hasFailed ? 'to retry or delete' : 'none'}
        to="/dead-letters"
        search={{ window: '24h' }}
      />
      <Card
        title="Retrying"
        value={count('retrying')}
        tone={sum('retrying') > 0 ? 'warn' : ''}
        note={next === null ? 'no retries pending' : `next ${until(next, now)}`}
        to="/jobs"
        search={{ status: ['retrying'] }}
      />
      <Card
        title="Queued"
        value={count('queued')}
        note={oldest ? `oldest waits ${wholeSeconds(waitedMs)}` : 'none'}
        to="/jobs"
        search={{ status: ['queued'], sort: 'createdAt' }}
      />
      <Card
        title="Running"
        value={count('running', 'cancelling')}
        note={slotsWords(alive, tenant.tenant)}
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
