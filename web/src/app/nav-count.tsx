import { useQuery } from '@tanstack/react-query';
import { isFailing } from '../../../src/core/problems/webhook-problems.ts';
import { useWebhooks } from '../api/use-webhooks.ts';
import { firingAlertsQuery, useOffered, useStats } from '../api/signal-queries.ts';

/** Count of dead letters, firing alerts or failing webhooks beside a menu entry; hidden at zero. */
export function NavCount({ of }: { of: 'dead' | 'firing' | 'failing' }) {
  if (of === 'failing') return <Failing />;
  return of === 'dead' ? <Dead /> : <Firing />;
}

function Failing() {
  return <Badge count={useWebhooks().filter(isFailing).length} />;
}

function Dead() {
  return <Badge count={useStats()?.totals.failed ?? 0} />;
}

function Firing() {
  const { data } = useQuery({ ...firingAlertsQuery(), enabled: useOffered('/v1/alerts') });
  return <Badge count={data?.alerts.length ?? 0} />;
}

function Badge({ count }: { count: number }) {
  if (count === 0) return null;
  return <span className="nav-count">{count.toLocaleString('en')}</span>;
}
