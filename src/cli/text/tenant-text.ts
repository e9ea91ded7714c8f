import type { Tenant } from '../../client/index.ts';
import { tenantLimit, tenantUse } from '../../core/views/tenant-words.ts';
import { columns } from './columns.ts';

const HEADER = ['TENANT', 'IN USE', 'LIMIT', 'WEIGHT', 'PAUSED'];

export function tenantTable(tenants: readonly Tenant[], widthMax: number): string[] {
  const rows = tenants.map((one) => [
    one.tenant,
    tenantUse(one),
    tenantLimit(one),
    String(one.weight),
    one.paused ? 'yes' : '-',
  ]);
  return columns([HEADER, ...rows], widthMax);
}
