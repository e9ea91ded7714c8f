import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Target } from '../words/target.ts';

export function TargetLink({
  target,
  ...rest
}: {
  target: Target;
  className?: string;
  title?: string;
  children: ReactNode;
}) {
  const link = { ...rest, 'data-row': true };
  switch (target.at) {
    case 'job':
      return <Link to="/jobs/$jobId" params={{ jobId: target.jobId }} {...link} />;
    case 'jobs':
      return <Link to="/jobs" search={{ status: target.status }} {...link} />;
    case 'definition':
      return <Link to="/definitions/$key" params={{ key: target.key }} {...link} />;
    case 'dead-letters': {
      const { fingerprint } = target;
      const search = { window: '24h' as const, ...(fingerprint !== null && { fingerprint }) };
      return <Link to="/dead-letters" search={search} {...link} />;
    }
    case 'alerts':
      return <Link to="/alerts" {...link} />;
    case 'workers':
      return <Link to="/workers" {...link} />;
    case 'schedule':
      return (
        <Link to="/schedules/$scheduleId" params={{ scheduleId: target.scheduleId }} {...link} />
      );
    case 'webhook':
      return <Link to="/webhooks/$webhookId" params={{ webhookId: target.webhookId }} {...link} />;
    case 'audit':
      return <Link to="/audit" search={{ subject: target.subject }} {...link} />;
  }
}
