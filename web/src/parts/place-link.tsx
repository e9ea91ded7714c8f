import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Place } from '../words/place.ts';

/** The link to where something is looked at. */
export function PlaceLink({
  place,
  ...rest
}: {
  place: Place;
  className?: string;
  title?: string;
  children: ReactNode;
}) {
  const link = { ...rest, 'data-row': true };
  switch (place.at) {
    case 'job':
      return <Link to="/jobs/$jobId" params={{ jobId: place.jobId }} {...link} />;
    case 'jobs':
      return <Link to="/jobs" search={{ status: place.status }} {...link} />;
    case 'definition':
      return <Link to="/definitions/$key" params={{ key: place.key }} {...link} />;
    case 'dead-letters': {
      const { fingerprint } = place;
      const search = { window: '24h' as const, ...(fingerprint !== null && { fingerprint }) };
      return <Link to="/dead-letters" search={search} {...link} />;
    }
    case 'alerts':
      return <Link to="/alerts" {...link} />;
    case 'workers':
      return <Link to="/workers" {...link} />;
    case 'schedule':
      return (
        <Link to="/schedules/$scheduleId" params={{ scheduleId: place.scheduleId }} {...link} />
      );
    case 'webhook':
      return <Link to="/webhooks/$webhookId" params={{ webhookId: place.webhookId }} {...link} />;
    case 'audit':
      return <Link to="/audit" search={{ subject: place.subject }} {...link} />;
  }
}
