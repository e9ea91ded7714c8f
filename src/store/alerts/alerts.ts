import {
  ALERT_RULES,
  type AlertRuleName,
  type AlertSeverity,
  type AlertStatus,
  type AlertView,
} from '../../core/alert/alert.ts';
import { type Queryable, statement } from '../connection/db.ts';

/** Reads alerts. `store/alerts/fire-alerts.ts` fires and resolves them. */

export interface AlertRow {
  id: string;
  tenant: string;
  rule: AlertRuleName;
  severity: AlertSeverity;
  definition_key: string | null;
  schedule_id: string | null;
  webhook_id: string | null;
  job_id: string | null;
  owner: string | null;
  runbook_url: string | null;
  value: number;
  threshold: number;
  message: string;
  fired_at: Date;
  resolved_at: Date | null;
  silenced_by: string | null;
  silenced_until: Date | null;
}

export const ALERT_COLUMNS = `id, tenant, rule, severity, definition_key, schedule_id, webhook_id, job_id,
  owner, runbook_url, value, threshold, message, fired_at, resolved_at, silenced_until,
  case when silenced_until is null or silenced_until > clock_timestamp() then silenced_by end
    as silenced_by`;

export interface AlertFilter {
  status: AlertStatus | null;
  rule: AlertRuleName | null;
  definitionKey: string | null;
  /** The last id of the page before. */
  afterId: string | null;
  limit: number;
}

const LIST = statement<AlertRow>(
  'list_alerts',
  `select ${ALERT_COLUMNS} from longshore.alert
   where tenant = $1 and id < coalesce($2::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
     and ($3::text is null or (resolved_at is null) = ($3 = 'firing'))
     and ($4::text is null or rule = $4) and ($5::text is null or definition_key = $5)
   order by id desc limit $6`,
);

/** Newest first. */
export async function listAlerts(
  db: Queryable,
  tenant: string,
  { status, rule, definitionKey, afterId, limit }: AlertFilter,
): Promise<{ alerts: AlertView[]; nextId: string | null }> {
  const rows = await db.run(LIST, [tenant, afterId, status, rule, definitionKey, limit + 1]);
  const alerts = rows.slice(0, limit).map(viewOfAlert);
  return { alerts, nextId: rows.length > limit ? (alerts.at(-1)?.id ?? null) : null };
}

export function viewOfAlert(row: AlertRow): AlertView {
  return {
    id: row.id,
    rule: row.rule,
    tenant: row.tenant,
    status: row.resolved_at === null ? 'firing' : 'resolved',
    severity: row.severity,
    definitionKey: row.definition_key,
    scheduleId: row.schedule_id,
    webhookId: row.webhook_id,
    jobId: row.job_id,
    owner: row.owner,
    runbookUrl: row.runbook_url,
    since: row.fired_at.toISOString(),
    resolvedAt: row.resolved_at?.toISOString() ?? null,
    value: row.value,
    threshold: row.threshold,
    unit: ALERT_RULES[row.rule].unit,
    message: row.message,
    silenced:
      row.silenced_by === null
        ? null
        : { until: row.silenced_until?.toISOString() ?? null, by: row.silenced_by },
  };
}
