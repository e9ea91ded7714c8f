import type { Longshore } from '../../client/index.ts';
import { type ViewFilter, viewFilter } from '../../core/search/view-filter.ts';
import { unknownName } from '../../core/values/nearest.ts';
import { UsageError } from './usage-error.ts';

/** The filter of a saved view of jobs. Throws a `UsageError` with the nearest name. */
export async function filterOfView(
  client: Longshore,
  name: string | undefined,
  now: Date,
): Promise<ViewFilter> {
  if (name === undefined) return {};
  const views = (await client.views.list()).filter(({ screen }) => screen === 'jobs');
  const view = views.find((one) => one.name === name);
  if (view) return viewFilter(new URLSearchParams(view.query), now);
  throw new UsageError(
    unknownName(
      'view of jobs',
      name,
      views.map((one) => one.name),
    ),
  );
}
