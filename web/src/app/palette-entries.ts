import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { isJobId } from '../../../src/core/job/job-id.ts';
import { idPart, shortId } from '../../../src/core/job/short-id.ts';
import { batchesByIdQuery } from '../screens/batches/batch-queries.ts';
import { tenantsQuery } from '../api/admin-queries.ts';
import {
  definitionsQuery,
  jobsByIdQuery,
  manySchedulesQuery,
  workersQuery,
} from '../api/queries.ts';
import { otherTenantQuery } from '../api/search-queries.ts';
import { useMay } from '../api/use-may.ts';
import { useSettled } from '../runtime/settled.ts';
import { addressFor } from '../runtime/tenant.ts';
import { theme, THEMES } from '../runtime/theme.ts';
import { nameOf } from '../../../src/core/problems/problems.ts';
import type { PaletteItem } from '../words/palette.ts';
import { newestVersions } from '../words/queues/definition-words.ts';
import { PAUSE, RESUME } from '../words/queues/pause-words.ts';
import { useScreens } from './use-screens.ts';

export interface PaletteEntry extends PaletteItem {
  go: () => void;
}

const TYPING_MS = 200;

/** Everything that the palette can open, and what this session may do. */
export function usePaletteEntries(
  text: string,
  onHelp: () => void,
): { entries: PaletteEntry[]; searching: boolean } {
  const navigate = useNavigate();
  const { data: definitions = [] } = useQuery(definitionsQuery());
  const { data: page } = useQuery(manySchedulesQuery());
  const { data: workers = [] } = useQuery(workersQuery());
  const settled = useSettled(text.trim().toLowerCase(), TYPING_MS);
  const part = idPart(settled);
  const jobs = useQuery({ ...jobsByIdQuery(part ?? ''), enabled: part !== null });
  const batches = useQuery({ ...batchesByIdQuery(part ?? ''), enabled: part !== null });
  const mayWrite = useMay('jobs:write');
  const mayOperate = useMay('operate');
  const mayPause = useMay('operate', { ofDefaultTenant: true });
  const mayAdmin = useMay('admin', { ofDefaultTenant: true });
  const { data: tenants = [] } = useQuery({ ...tenantsQuery(), enabled: mayAdmin });
  const isOwn = jobs.data?.length !== 0 || batches.data?.length !== 0;
  const other = useQuery({
    ...otherTenantQuery(settled),
    enabled: mayAdmin && isJobId(settled) && !isOwn,
  });
  const newest = newestVersions(definitions);

  const screens = useScreens().map(({ to, title }): PaletteEntry => ({
    id: to,
    kind: 'Screen',
    title,
    go: () => void navigate({ to }),
  }));
  const ofDefinitions = newest.map(({ key, owner }): PaletteEntry => ({
    id: `definition ${key}`,
    kind: 'Definition',
    title: key,
    ...(owner !== null && { detail: owner }),
    go: () => void navigate({ to: '/definitions/$key', params: { key } }),
  }));
  const ofSchedules = (page?.schedules ?? []).map((schedule): PaletteEntry => ({
    id: schedule.id,
    kind: 'Schedule',
    title: nameOf(schedule),
    detail: schedule.definitionKey,
    go: () => void navigate({ to: '/schedules/$scheduleId', params: { scheduleId: schedule.id } }),
  }));
  const ofWorkers = workers
    .filter(({ status }) => status !== 'dead')
    .map(({ workerId, host, pid }): PaletteEntry => ({
      id: workerId,
      kind: 'Worker',
      title: `${host} (${pid})`,
      detail: workerId,
      go: () => void navigate({ to: '/workers' }),
    }));
  const ofJobs = (part === null ? [] : (jobs.data ?? [])).map(
    ({ jobId, definitionKey, status }): PaletteEntry => ({
      id: jobId,
      kind: 'Job',
      title: isJobId(text.trim()) ? jobId : shortId(jobId),
      detail: `${definitionKey} · ${status}`,
      go: () => void navigate({ to: '/jobs/$jobId', params: { jobId } }),
    }),
  );
  const { data: otherTenant = null } = other;
  const ofOtherTenant: PaletteEntry[] =
    otherTenant === null
      ? []
      : [
          {
            id: settled,
            kind: 'Job',
            title: settled,
            detail: `of tenant ${otherTenant}`,
            go: () => location.assign(addressFor(`/jobs/${settled}`, otherTenant)),
          },
        ];
  const ofBatches = (part === null ? [] : (batches.data ?? [])).map(
    ({ jobId, status }): PaletteEntry => ({
      id: jobId,
      kind: 'Batch',
      title: isJobId(text.trim()) ? jobId : shortId(jobId),
      detail: status,
      go: () => void navigate({ to: '/batches/$batchId', params: { batchId: jobId } }),
    }),
  );
  const ofTenants = tenants.map((one): PaletteEntry => ({
    id: `tenant ${one.tenant}`,
    kind: 'Tenant',
    title: one.tenant,
    detail: 'switch to this tenant',
    go: () => location.assign(addressFor('/', one.tenant)),
  }));
  const action = (title: string, go: () => void): PaletteEntry => ({
    id: `action ${title}`,
    kind: 'Action',
    title,
    go,
  });
  const next = THEMES[(THEMES.indexOf(theme.get()) + 1) % THEMES.length] ?? 'system';
  const actions = [
    ...(mayOperate ? [action('New schedule', () => void navigate({ to: '/schedules/new' }))] : []),
    ...(mayWrite
      ? newest.map(({ key }) =>
          action(
            `Run ${key}…`,
            () => void navigate({ to: '/definitions/$key', params: { key }, hash: 'run' }),
          ),
        )
      : []),
    ...(mayPause && text.trim() !== ''
      ? newest.map(({ key, paused }): PaletteEntry => {
          const to = { to: '/definitions/$key', params: { key } } as const;
          return paused
            ? {
                ...action(`Resume ${key}…`, () => void navigate({ ...to, hash: RESUME })),
                detail: 'paused',
              }
            : action(`Pause ${key}…`, () => void navigate({ ...to, hash: PAUSE }));
        })
      : []),
    ...(mayAdmin
      ? [
          action(
            'Tenants: limits, weights, pauses',
            () => void navigate({ to: '/settings', hash: 'tenants' }),
          ),
        ]
      : []),
    action(`Theme: ${next}`, () => theme.set(next)),
    action('Keyboard help', onHelp),
  ];
  const q = text.trim();
  const ofSearch: PaletteEntry[] =
    q === ''
      ? []
      : [
          {
            id: 'search',
            kind: 'Search',
            title: `Search the jobs for “${q}”`,
            go: () => void navigate({ to: '/jobs', search: { q } }),
          },
        ];
  const entries = [
    ...ofJobs,
    ...ofOtherTenant,
    ...ofBatches,
    ...screens,
    ...ofDefinitions,
    ...ofSchedules,
    ...ofWorkers,
    ...ofTenants,
    ...actions,
    ...ofSearch,
  ];
  const asked = [jobs, batches, other];
  return { entries, searching: part !== null && asked.some(({ isFetching }) => isFetching) };
}
