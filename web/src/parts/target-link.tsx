import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { addressFor } from '../runtime/tenant.ts';
import { writeUrlSearch } from '../words/url-search.ts';
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
      if (target.tenant !== undefined) {
        const to = `/jobs${writeUrlSearch({ status: target.status })}`;
        return <a href={addressFor(to, target.tenant)} {...link} />;
      }
      return <Link to="/jobs" search={{ status: target.status }} {...link} />;
    case 'definition':
      return <Link to="/definitions/$key" params={{ key: target.key }} {...link} />;
    case 'dead-letters': {
      const { fingerprint, definitionKey } = target;
      const search = {
        window: '24h' as const,
        ...(fingerprint !== null && { fingerprint }),
        ...(definitionKey !== undefined && { definitionKey }),
      };
      return <Link to="/dead-letters" search={search} {...link} />;
    }
    case 'alerts':
      return <Link to="/alerts" {...link} />;
    case 'usage': {
      const { definitionKey } = target;
      const search = definitionKey === null ? {} : { definition: definitionKey };
      return <Link to="/usage" search={search} {...link} />;
    }
    case 'tenants':
    case 'tenant-limit':
      return <Link to="/settings" hash="tenants" {...link} />;
    case 'tenant':
      // Another tenant is another page load.
      return <a href={addressFor('/', target.name)} {...link} />;
    case 'workers':
      return <Link to="/workers" {...link} />;
    case 'schedule':
      return (
        <Link to="/schedules/$scheduleId" params={{ scheduleId: target.scheduleId }} {...link} />
      );
    case 'webhook':
      return <Link to="/webhooks/$webhookId" params={{ webhookId: target.webhookId }} {...link} />;
    case 'deployment':
      return <Link to="/deployments/$number" params={{ number: target.number }} {...link} />;
    case 'batch':
      return <Link to="/batches/$batchId" params={{ batchId: target.batchId }} {...link} />;
    case 'audit':
      return <Link to="/audit" search={{ subject: target.subject }} {...link} />;
  }
}
