import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Place } from '../words/troubles.ts';

/** The link to where a trouble is looked at. */
export function PlaceLink({ place, children }: { place: Place; children: ReactNode }) {
  switch (place.at) {
    case 'job':
      return (
        <Link to="/jobs/$jobId" params={{ jobId: place.jobId }} data-row>
          {children}
        </Link>
      );
    case 'jobs':
      return (
        <Link to="/jobs" search={{ status: place.status }} data-row>
          {children}
        </Link>
      );
    case 'definition':
      return (
        <Link to="/definitions/$key" params={{ key: place.key }} data-row>
          {children}
        </Link>
      );
    case 'dead-letters':
      return (
        <Link
          to="/dead-letters"
          search={{
            window: '24h',
            ...(place.fingerprint !== null && { fingerprint: place.fingerprint }),
          }}
          data-row
        >
          {children}
        </Link>
      );
    case 'workers':
      return (
        <Link to="/workers" data-row>
          {children}
        </Link>
      );
    case 'schedule':
      return (
        <Link to="/schedules/$scheduleId" params={{ scheduleId: place.scheduleId }} data-row>
          {children}
        </Link>
      );
  }
}
