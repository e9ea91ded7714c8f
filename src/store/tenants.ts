import type { TenantView } from '../core/key-view.ts';
import { type Actor, audit } from './audit.ts';
import { type Db, type Queryable, statement } from './db.ts';

interface TenantRow {
  name: string;
  created_at: Date;
}

const INSERT = statement<TenantRow>(
  'insert_tenant',
  `insert into longshore.tenant (name) values ($1) on conflict do nothing
   returning name, created_at`,
);

/** Null when there is one of that name. */
export async function createTenant(db: Db, by: Actor, name: string): Promise<TenantView | null> {
  return await db.transaction(async (tx) => {
    const [made] = await tx.run(INSERT, [name]);
    if (!made) return null;
    await audit(tx, by, { tenant: name, action: 'tenant.create', subject: name });
    return viewOf(made);
  });
}

const LIST = statement<TenantRow>(
  'list_tenants',
  'select name, created_at from longshore.tenant order by name',
);

export async function listTenants(db: Queryable): Promise<TenantView[]> {
  return (await db.run(LIST)).map(viewOf);
}

const EXISTS = statement<{ name: string }>(
  'tenant_exists',
  'select name from longshore.tenant where name = $1',
);

export async function tenantExists(db: Queryable, name: string): Promise<boolean> {
  return (await db.run(EXISTS, [name])).length > 0;
}

function viewOf({ name, created_at: createdAt }: TenantRow): TenantView {
  return { tenant: name, createdAt: createdAt.toISOString() };
}
