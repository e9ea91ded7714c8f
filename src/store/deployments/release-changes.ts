import {
  RELEASE_ACTIONS,
  type ReleaseAction,
  type ReleaseChangeView,
} from '../../core/deployment/release-change.ts';
import { type Queryable, statement } from '../connection/db.ts';

const PREFIX = 'deployment.';
const ACTIONS = RELEASE_ACTIONS.map((action) => `'${PREFIX}${action}'`).join(', ');
/** Of the audit log, so many of the latest entries are searched. */
const SEARCHED_MAX = 5_000;
const FOUND_MAX = 200;

interface Row {
  at: Date;
  action: string;
  subject: string;
  actor: string;
  after: { definitions?: string[]; canaryPercent?: number | null; reason?: string | null } | null;
}

const LIST = statement<Row>(
  'list_release_changes',
  `select a.at, a.action, a.subject, a.actor, a.after from (
     select id, at, action, subject, actor, after from longshore.audit
     where tenant = $1 order by id desc limit ${SEARCHED_MAX}
   ) a
   where a.action in (${ACTIONS}) and a.at > clock_timestamp() - make_interval(hours => $2::int)
   order by a.id desc limit ${FOUND_MAX}`,
);

/** The latest changes of what new jobs get, the newest first. */
export async function listReleaseChanges(
  db: Queryable,
  tenant: string,
  hours: number,
): Promise<ReleaseChangeView[]> {
  return (await db.run(LIST, [tenant, hours])).map(({ at, action, subject, actor, after }) => ({
    at: at.toISOString(),
    action: action.slice(PREFIX.length) as ReleaseAction,
    deployment: Number(subject),
    definitions: after?.definitions ?? [],
    canaryPercent: after?.canaryPercent ?? null,
    by: actor,
    reason: after?.reason ?? null,
  }));
}
