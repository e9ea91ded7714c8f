import { createRootRoute, createRoute, createRouter, Link } from '@tanstack/react-router';
import { Empty, Screen } from '../parts/screen.tsx';
import { dashboardRoot } from '../runtime/urls.ts';
import { AlertsScreen, alertsSearch } from '../screens/alerts/alerts-screen.tsx';
import { AuditScreen, auditSearch } from '../screens/audit/audit-screen.tsx';
import { BulkScreen, bulkSearch } from '../screens/bulk/bulk-screen.tsx';
import { DefinitionScreen } from '../screens/definitions/definition-screen.tsx';
import { DefinitionsScreen } from '../screens/definitions/definitions-screen.tsx';
import { DeadLettersScreen } from '../screens/failures/dead-letters-screen.tsx';
import { ErrorsScreen } from '../screens/failures/errors-screen.tsx';
import { failuresSearch } from '../screens/failures/failures-search.ts';
import { JobScreen } from '../screens/job/job-screen.tsx';
import { jobsSearch } from '../screens/jobs/jobs-search.ts';
import { JobsScreen } from '../screens/jobs/jobs-screen.tsx';
import { OverviewScreen } from '../screens/overview/overview-screen.tsx';
import { ScheduleScreen } from '../screens/schedules/schedule-screen.tsx';
import { SchedulesScreen, schedulesSearch } from '../screens/schedules/schedules-screen.tsx';
import { SettingsScreen } from '../screens/settings/settings-screen.tsx';
import { WebhookScreen, webhookSearch } from '../screens/webhooks/webhook-screen.tsx';
import { WebhooksScreen } from '../screens/webhooks/webhooks-screen.tsx';
import { WorkersScreen } from '../screens/workers/workers-screen.tsx';
import { parseUrlSearch, writeUrlSearch } from '../words/url-search.ts';
import { Shell } from './shell.tsx';

/** All screens; `nav.ts` lists those of the menu. */
const root = createRootRoute({ component: Shell, notFoundComponent: NotFound });
const at = { getParentRoute: () => root };

const routes = root.addChildren([
  createRoute({ ...at, path: '/', component: OverviewScreen }),
  createRoute({ ...at, path: '/jobs', component: JobsScreen, validateSearch: jobsSearch }),
  createRoute({ ...at, path: '/jobs/$jobId', component: JobScreen }),
  createRoute({
    ...at,
    path: '/schedules',
    component: SchedulesScreen,
    validateSearch: schedulesSearch,
  }),
  createRoute({ ...at, path: '/schedules/$scheduleId', component: ScheduleScreen }),
  createRoute({ ...at, path: '/definitions', component: DefinitionsScreen }),
  createRoute({ ...at, path: '/definitions/$key', component: DefinitionScreen }),
  createRoute({ ...at, path: '/workers', component: WorkersScreen }),
  createRoute({ ...at, path: '/errors', component: ErrorsScreen }),
  createRoute({
    ...at,
    path: '/dead-letters',
    component: DeadLettersScreen,
    validateSearch: failuresSearch,
  }),
  createRoute({ ...at, path: '/bulk', component: BulkScreen, validateSearch: bulkSearch }),
  createRoute({ ...at, path: '/webhooks', component: WebhooksScreen }),
  createRoute({
    ...at,
    path: '/webhooks/$webhookId',
    component: WebhookScreen,
    validateSearch: webhookSearch,
  }),
  createRoute({ ...at, path: '/audit', component: AuditScreen, validateSearch: auditSearch }),
  createRoute({ ...at, path: '/settings', component: SettingsScreen }),
  createRoute({ ...at, path: '/alerts', component: AlertsScreen, validateSearch: alertsSearch }),
]);

export const router = createRouter({
  routeTree: routes,
  basepath: dashboardRoot.pathname,
  parseSearch: parseUrlSearch,
  stringifySearch: writeUrlSearch,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}

function NotFound() {
  return (
    <Screen title="Not found">
      <Empty title="This page does not exist.">
        <Link to="/">Go to the overview</Link>
      </Empty>
    </Screen>
  );
}
