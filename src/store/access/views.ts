import { type SavedView, type ViewScreen, VIEWS_MAX } from '../../core/search/saved-view.ts';
import { type Db, type Queryable, statement } from '../connection/db.ts';
import { type Actor, audit, audited } from './audit.ts';

/** Saved views of lists. A tenant shares its views; others do not see them. */
interface ViewRow {
  name: string;
  screen: ViewScreen;
  query: string;
  created_at: Date;
  updated_at: Date;
  updated_by: string;
}

const COLUMNS = 'name, screen, query, created_at, updated_at, updated_by';

const LIST = statement<ViewRow>(
  'list_views',
  `select ${COLUMNS} from longshore.saved_view where tenant = $1 order by lower(name), name`,
);

export async function listViews(db: Queryable, tenant: string): Promise<SavedView[]> {
  return (await db.run(LIST, [tenant])).map(viewOf);
}

const PUT = statement<ViewRow & { isNew: boolean }>(
  'put_view',
  `insert into longshore.saved_view as v
     (tenant, name, screen, query, updated_by, created_at, updated_at)
   select $1, $2, $3, $4, $5, at, at from clock_timestamp() as at
   on conflict (tenant, name) do update
     set screen = excluded.screen, query = excluded.query, updated_by = excluded.updated_by,
       updated_at = clock_timestamp()
   returning ${COLUMNS}, v.created_at = v.updated_at as "isNew"`,
);

/** Two calls must not both take the last place. */
const LOCK = statement<{ locked: string }>(
  'lock_views',
  `select pg_advisory_xact_lock(hashtext('longshore.saved_view'), hashtext($1))::text as locked
   from longshore.tenant where name = $1`,
);

const COUNT = statement<{ n: number }>(
  'count_views',
  'select count(*)::int as n from longshore.saved_view where tenant = $1',
);

export class TooManyViews extends Error {
  override name = 'TooManyViews';
}

/** Creates a view, or replaces the one with this name. Throws `TooManyViews`. */
export async function putView(
  db: Db,
  by: Actor,
  tenant: string,
  { name, screen, query }: Pick<SavedView, 'name' | 'screen' | 'query'>,
): Promise<SavedView> {
  return await db.transaction(async (tx) => {
    await tx.run(LOCK, [tenant]);
    const [row] = await tx.run(PUT, [tenant, name, screen, query, by.name]);
    if (!row) throw new Error('the view was not stored');
    const [counted] = await tx.run(COUNT, [tenant]);
    if ((counted?.n ?? 0) > VIEWS_MAX) {
      throw new TooManyViews(`a tenant can have ${VIEWS_MAX} saved views: delete one first`);
    }
    const action = row.isNew ? 'view.create' : 'view.change';
    await audit(tx, by, { tenant, action, subject: name, after: { screen, query } });
    return viewOf(row);
  });
}

const DELETE = statement<{ screen: ViewScreen; query: string }>(
  'delete_view',
  'delete from longshore.saved_view where tenant = $1 and name = $2 returning screen, query',
);

/** False when there is no such view. */
export async function deleteView(
  db: Db,
  by: Actor,
  tenant: string,
  name: string,
): Promise<boolean> {
  const gone = await audited(
    db,
    by,
    async (tx) => (await tx.run(DELETE, [tenant, name]))[0],
    (before) => (before ? { tenant, action: 'view.delete', subject: name, before } : null),
  );
  return gone !== undefined;
}

function viewOf(row: ViewRow): SavedView {
  return {
    name: row.name,
    screen: row.screen,
    query: row.query,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    updatedBy: row.updated_by,
  };
}
