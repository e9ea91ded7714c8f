import { useQuery } from '@tanstack/react-query';
import { DEFAULT_TENANT } from '../../../src/core/access/scope.ts';
import { nearestName } from '../../../src/core/values/nearest.ts';
import { tenantsQuery } from '../api/admin-queries.ts';
import { useMay } from '../api/use-may.ts';
import { Empty, Screen } from '../parts/screen.tsx';
import { addressFor, tenant } from '../runtime/tenant.ts';

/** Whether the address names a tenant that does not exist; known to those who see all tenants. */
export function useUnknownTenant(): { known: string[] } | null {
  const may = useMay('admin', { ofDefaultTenant: true });
  const { data: tenants } = useQuery({ ...tenantsQuery(), enabled: may && tenant !== null });
  if (tenant === null || tenants === undefined) return null;
  const known = tenants.map((one) => one.tenant);
  return known.includes(tenant) ? null : { known };
}

/** Instead of a screen whose every link would lead to the same tenant again. */
export function UnknownTenant({ known }: { known: readonly string[] }) {
  const nearest = nearestName(tenant ?? '', known);
  return (
    <Screen title="Tenant not found">
      <Empty title={`There is no tenant “${tenant}”.`}>
        {nearest !== null && (
          <p>
            Did you mean <a href={addressFor('/', nearest)}>{nearest}</a>?
          </p>
        )}
        <p>
          <a href={addressFor('/', DEFAULT_TENANT)}>Go to the default tenant</a>
        </p>
      </Empty>
    </Screen>
  );
}
