import { useQuery } from '@tanstack/react-query';
import { tenantsQuery } from '../api/admin-queries.ts';
import { useMay, useSession } from '../api/use-may.ts';
import { switchTenant, tenant } from '../runtime/tenant.ts';

/** For keys that may act for other tenants. */
export function TenantSwitch() {
  const home = useSession()?.tenant;
  const may = useMay('admin', { ofDefaultTenant: true });
  const { data: tenants = [] } = useQuery({ ...tenantsQuery(), enabled: may });
  if (home === undefined || (tenants.length < 2 && tenant === null)) return null;
  const known = [...new Set([home, ...tenants.map((one) => one.tenant)])];
  const isUnknown = tenants.length > 0 && tenant !== null && !known.includes(tenant);
  const names = isUnknown || tenant === null || known.includes(tenant) ? known : [...known, tenant];
  return (
    <label className="tenant">
      <span>Tenant</span>
      <select
        value={isUnknown ? '' : (tenant ?? home)}
        onChange={({ target: { value } }) => switchTenant(value === home ? null : value)}
      >
        {isUnknown && (
          <option value="" disabled>
            Choose…
          </option>
        )}
        {names.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </label>
  );
}
