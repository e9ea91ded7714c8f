import { useState } from 'react';
import { TENANT_SHAPE } from '../../../../src/core/access/scope.ts';
import type { TenantView } from '../../../../src/core/views/key-view.ts';
import { call } from '../../api/call.ts';
import { useAsked } from '../../api/use-change.ts';
import { Ask } from '../../parts/ask.tsx';
import { readTenantLimits, tenantWords } from '../../words/queues/tenant-words.ts';

/** Changes limit and weight of a tenant. */
export function TenantLimits({ tenant, onClose }: { tenant: TenantView; onClose: () => void }) {
  const [limit, setLimit] = useState(String(tenant.concurrencyLimit ?? ''));
  const [weight, setWeight] = useState(String(tenant.weight));
  const [wrong, setWrong] = useState<string | null>(null);
  const path = `/v1/tenants/${encodeURIComponent(tenant.tenant)}/limits`;
  const change = useAsked(
    async (body: object) => await call<TenantView>('PATCH', path, { body }),
    (changed) => `${tenantWords(changed)}.`,
  );
  const confirm = () => {
    const read = readTenantLimits(limit, weight);
    if ('wrong' in read) {
      setWrong(read.wrong);
      return 'stay' as const;
    }
    return change(read.change);
  };
  return (
    <Ask
      title={`Limits of tenant ${tenant.tenant}`}
      labels={{ concurrencyLimit: 'Jobs at a time' }}
      confirm="Save"
      tone="primary"
      onConfirm={confirm}
      onClose={onClose}
    >
      <label className="field">
        <span>Jobs at a time</span>
        <input
          value={limit}
          inputMode="numeric"
          autoComplete="off"
          placeholder="no limit"
          onChange={(event) => setLimit(event.target.value)}
        />
      </label>
      <label className="field">
        <span>Weight</span>
        <input
          value={weight}
          inputMode="numeric"
          autoComplete="off"
          onChange={(event) => setWeight(event.target.value)}
        />
      </label>
      <p className="soft">
        Leave the first empty for no limit. The weight is its share among tenants with jobs of the
        same priority. Both apply at once.
      </p>
      <p role="alert" className="wrong">
        {wrong}
      </p>
    </Ask>
  );
}

export function NewTenant({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('');
  const [wrong, setWrong] = useState<string | null>(null);
  const create = useAsked(
    async () => await call<TenantView>('POST', '/v1/tenants', { body: { tenant: name } }),
    () => `Tenant ${name} created. Switch to it to create its keys.`,
  );
  const confirm = () => {
    if (!TENANT_SHAPE.test(name)) {
      setWrong('Use lowercase letters, digits and -, beginning with a letter or digit.');
      return 'stay' as const;
    }
    return create(undefined);
  };
  return (
    <Ask
      title="Create a tenant"
      confirm="Create tenant"
      tone="primary"
      onConfirm={confirm}
      onClose={onClose}
    >
      <label className="field">
        <span>Name</span>
        <input
          value={name}
          maxLength={63}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => setName(event.target.value)}
        />
      </label>
      <p className="soft">A tenant owns jobs, schedules and keys, apart from other tenants.</p>
      <p role="alert" className="wrong">
        {wrong}
      </p>
    </Ask>
  );
}
