import { createRootRoute, createRoute, createRouter, Link, redirect } from '@tanstack/react-router';
import { Empty, Screen } from '../parts/screen.tsx';
import { dashboardRoot } from '../runtime/place.ts';
import { JobScreen } from '../screens/job/job-screen.tsx';
import { jobsSearch } from '../screens/jobs/jobs-search.ts';
import { JobsScreen } from '../screens/jobs/jobs-screen.tsx';
import { parseUrlSearch, writeUrlSearch } from '../words/url-search.ts';
import { Shell } from './shell.tsx';

/** A screen is a file and a line here; `nav.ts` says which of them the menu shows. */
const root = createRootRoute({ component: Shell, notFoundComponent: Nowhere });
const at = { getParentRoute: () => root };

const routes = root.addChildren([
  createRoute({ ...at, path: '/', beforeLoad: () => redirect({ to: '/jobs', throw: true }) }),
  createRoute({ ...at, path: '/jobs', component: JobsScreen, validateSearch: jobsSearch }),
  createRoute({ ...at, path: '/jobs/$jobId', component: JobScreen }),
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

function Nowhere() {
  return (
    <Screen title="Nothing here">
      <Empty title="There is no such screen.">
        <Link to="/">Go to the overview</Link>
      </Empty>
    </Screen>
  );
}
