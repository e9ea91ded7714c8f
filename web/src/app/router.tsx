import {
  createRootRoute,
  createRoute,
  createRouter,
  type ErrorComponentProps,
  Link,
} from '@tanstack/react-router';
import { Empty, Screen } from '../parts/screen.tsx';
import { parseSearch, writeSearch } from '../runtime/tenant.ts';
import { dashboardRoot } from '../runtime/urls.ts';
import { AlertsScreen } from '../screens/alerts/alerts-screen.tsx';
import { AuditScreen, auditSearch } from '../screens/audit/audit-screen.tsx';
import { BatchScreen } from '../screens/batches/batch-screen.tsx';
import { BatchesScreen } from '../screens/batches/batches-screen.tsx';
import { BulkScreen } from '../screens/bulk/bulk-screen.tsx';
import { CompareScreen } from '../screens/compare/compare-screen.tsx';
import { compareSearch } from '../screens/compare/compare-search.ts';
import { DefinitionScreen } from '../screens/definitions/definition-screen.tsx';
import { DefinitionsScreen } from '../screens/definitions/definitions-screen.tsx';
import { DeploymentScreen } from '../screens/deployments/deployment-screen.tsx';
import { DeploymentsScreen } from '../screens/deployments/deployments-screen.tsx';
import { DeadLettersScreen } from '../screens/failures/dead-letters-screen.tsx';
import { ErrorsScreen } from '../screens/failures/errors-screen.tsx';
import { failuresSearch } from '../screens/failures/failures-search.ts';
import { JobScreen, jobSearch } from '../screens/job/job-screen.tsx';
import { jobsSearch } from '../screens/jobs/jobs-search.ts';
import { JobsScreen } from '../screens/jobs/jobs-screen.tsx';
import { NewJobScreen } from '../screens/jobs/new-job-screen.tsx';
import { OverviewScreen } from '../screens/overview/overview-screen.tsx';
import {
  EditScheduleScreen,
  NewScheduleScreen,
} from '../screens/schedules/edit-schedule-screen.tsx';
import { ScheduleScreen } from '../screens/schedules/schedule-screen.tsx';
import { SchedulesScreen } from '../screens/schedules/schedules-screen.tsx';
import { SettingsScreen } from '../screens/settings/settings-screen.tsx';
import { UsageScreen } from '../screens/usage/usage-screen.tsx';
import { WebhookScreen } from '../screens/webhooks/webhook-screen.tsx';
import { WebhooksScreen } from '../screens/webhooks/webhooks-screen.tsx';
import { WorkersScreen } from '../screens/workers/workers-screen.tsx';
import { batchSearch } from '../words/batches/batch-words.ts';
import { chartSearch } from '../words/charts/range.ts';
import { usageSearch } from '../words/usage/usage-range.ts';
import { cursorSearch, textOf } from '../words/url-search.ts';
import { Shell } from './shell.tsx';

/** All screens; `nav.ts` lists those of the menu. */
const root = createRootRoute({
  component: Shell,
  notFoundComponent: NotFound,
  errorComponent: Broken,
});
/** The definition that a form is about. */
function definitionSearch(search: Record<string, unknown>): { definition?: string } {
  const definition = textOf(search, 'definition');
  return definition === undefined ? {} : { definition };
}

const at = { getParentRoute: () => root };

const routes = root.addChildren([
  createRoute({ ...at, path: '/', component: OverviewScreen, validateSearch: chartSearch }),
  createRoute({ ...at, path: '/jobs', component: JobsScreen, validateSearch: jobsSearch }),
  createRoute({
    ...at,
    path: '/jobs/new',
    component: NewJobScreen,
    validateSearch: definitionSearch,
  }),
  createRoute({
    ...at,
    path: '/jobs/$jobId',
    component: JobScreen,
    validateSearch: jobSearch,
  }),
  createRoute({
    ...at,
    path: '/batches',
    component: BatchesScreen,
    validateSearch: cursorSearch,
  }),
  createRoute({
    ...at,
    path: '/batches/$batchId',
    component: BatchScreen,
    validateSearch: batchSearch,
  }),
  createRoute({
    ...at,
    path: '/compare',
    component: CompareScreen,
    validateSearch: compareSearch,
  }),
  createRoute({
    ...at,
    path: '/schedules',
    component: SchedulesScreen,
    validateSearch: cursorSearch,
  }),
  createRoute({
    ...at,
    path: '/schedules/new',
    component: NewScheduleScreen,
    validateSearch: definitionSearch,
  }),
  createRoute({ ...at, path: '/schedules/$scheduleId', component: ScheduleScreen }),
  createRoute({ ...at, path: '/schedules/$scheduleId/edit', component: EditScheduleScreen }),
  createRoute({ ...at, path: '/definitions', component: DefinitionsScreen }),
  createRoute({
    ...at,
    path: '/definitions/$key',
    component: DefinitionScreen,
    validateSearch: chartSearch,
  }),
  createRoute({
    ...at,
    path: '/deployments',
    component: DeploymentsScreen,
    validateSearch: cursorSearch,
  }),
  createRoute({ ...at, path: '/deployments/$number', component: DeploymentScreen }),
  createRoute({ ...at, path: '/workers', component: WorkersScreen }),
  createRoute({ ...at, path: '/errors', component: ErrorsScreen }),
  createRoute({
    ...at,
    path: '/dead-letters',
    component: DeadLettersScreen,
    validateSearch: failuresSearch,
  }),
  createRoute({ ...at, path: '/bulk', component: BulkScreen, validateSearch: cursorSearch }),
  createRoute({ ...at, path: '/webhooks', component: WebhooksScreen }),
  createRoute({
    ...at,
    path: '/webhooks/$webhookId',
    component: WebhookScreen,
    validateSearch: cursorSearch,
  }),
  createRoute({ ...at, path: '/audit', component: AuditScreen, validateSearch: auditSearch }),
  createRoute({ ...at, path: '/settings', component: SettingsScreen }),
  createRoute({ ...at, path: '/usage', component: UsageScreen, validateSearch: usageSearch }),
  createRoute({ ...at, path: '/alerts', component: AlertsScreen, validateSearch: cursorSearch }),
]);

export const router = createRouter({
  routeTree: routes,
  basepath: dashboardRoot.pathname,
  parseSearch,
  stringifySearch: writeSearch,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}

/** A mistake of ours in a screen. The address stays, so a reload shows the same screen anew. */
function Broken({ error }: ErrorComponentProps) {
  return (
    <Screen title="This page failed">
      <Empty title="The dashboard made a mistake while it drew this page.">
        <p className="mono">{String(error)}</p>
        <button type="button" onClick={() => location.reload()}>
          Reload
        </button>{' '}
        <a href={dashboardRoot.pathname}>Go to the overview</a>
      </Empty>
    </Screen>
  );
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
