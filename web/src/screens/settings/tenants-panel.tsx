import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { TenantView } from '../../../../src/core/views/key-view.ts';
import { tenantsQuery } from '../../api/admin-queries.ts';
import { call } from '../../api/call.ts';
import { useAsked, useChange } from '../../api/use-change.ts';
import { useMay } from '../../api/use-may.ts';
import { AskButton } from '../../parts/ask.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Rows } from '../../parts/rows.tsx';
import { Waiting } from '../../parts/screen.tsx';
import { useNow } from '../../runtime/clock.ts';
import { addressFor } from '../../runtime/tenant.ts';
import { tenantLimit, tenantUse } from '../../words/queues/tenant-words.ts';
import { pauseWords } from '../../words/queues/pause-words.ts';
import { NewTenant, TenantLimits } from './tenant-dialogs.tsx';

/** All tenants with limits and pauses, for admins of the default tenant. */
export function TenantsPanel() {
  const may = useMay('admin', { ofDefaultTenant: true });
  const { data: tenants, error } = useQuery({ ...tenantsQuery(), enabled: may });
  const [making, setMaking] = useState(false);
  const ref = useShownByHash('tenants', tenants !== undefined);
  if (!may) return null;
  return (
    <div id="tenants" ref={ref}>
      <Panel
        title="Tenants"
        flush
        aside={
          <button type="button" className="small" onClick={() => setMaking(true)}>
            Create tenant…
          </button>
        }
      >
        {tenants === undefined ? <Waiting error={error} /> : <TenantTable tenants={tenants} />}
        {making && <NewTenant onClose={() => setMaking(false)} />}
      </Panel>
    </div>
  );
}

/** The panel appears after the page, too late for the browser to scroll to it. */
function useShownByHash(hash: string, isThere: boolean) {
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isThere && location.hash === `#${hash}`) ref.current?.scrollIntoView();
  }, [hash, isThere]);
  return ref;
}

function TenantTable({ tenants }: { tenants: readonly TenantView[] }) {
  return (
    <Rows
      caption="Tenants"
      rows={tenants}
      keyOf={({ tenant }) => tenant}
      columns={[
        {
          title: 'Tenant',
          titled: 'in-head',
          cell: ({ tenant }) => <a href={addressFor('/', tenant)}>{tenant}</a>,
        },
        { title: 'In use', kind: 'number', cell: tenantUse },
        { title: 'Limit', kind: 'number', cell: tenantLimit },
        { title: 'Weight', kind: 'number', cell: ({ weight }) => weight },
        { title: 'State', cell: (tenant) => <State tenant={tenant} /> },
        { title: 'Actions', titled: 'aloud', cell: (tenant) => <TenantActions tenant={tenant} /> },
      ]}
    />
  );
}

function State({ tenant: { paused } }: { tenant: TenantView }) {
  const now = useNow();
  if (paused === null) return <span className="badge tone-good">active</span>;
  return (
    <>
      <span className="badge tone-warn">paused</span>
      <span className="summary">{pauseWords(paused, now)}</span>
    </>
  );
}

function TenantActions({ tenant }: { tenant: TenantView }) {
  const { tenant: name, paused } = tenant;
  const [changing, setChanging] = useState(false);
  const [reason, setReason] = useState('');
  const path = `/v1/tenants/${encodeURIComponent(name)}`;
  const pause = useAsked(
    async () =>
      await call<object>('POST', `${path}/pause`, { body: { reason: reason.trim() || null } }),
    () => `Tenant ${name} paused.`,
  );
  const resume = useChange(
    async () => await call<object>('POST', `${path}/resume`),
    () => `Tenant ${name} resumed.`,
  );
  return (
    <div className="row-actions">
      <button type="button" className="small" onClick={() => setChanging(true)}>
        Limits…
      </button>
      {paused ? (
        <button type="button" className="small" onClick={() => resume.mutate(undefined)}>
          <Icon name="resume" />
          Resume
        </button>
      ) : (
        <AskButton
          label={
            <>
              <Icon name="pause" />
              Pause…
            </>
          }
          className="small"
          title={`Pause tenant ${name}?`}
          confirm="Pause tenant"
          onConfirm={() => pause(undefined)}
        >
          <p>No more jobs of this tenant start. Running jobs continue; new jobs wait.</p>
          <label className="field">
            <span>Reason (shown to others)</span>
            <input value={reason} maxLength={500} onChange={(e) => setReason(e.target.value)} />
          </label>
        </AskButton>
      )}
      {changing && <TenantLimits tenant={tenant} onClose={() => setChanging(false)} />}
    </div>
  );
}
