import type { AlertRuleName, AlertRuleView } from '../../core/views/alert.ts';
import {
  type AlertChange,
  type AlertDefaults,
  AlertRules,
  type TenantRule,
} from '../../core/views/alert-rules.ts';
import { changesOf } from '../../core/access/changes.ts';
import { type Actor, audit } from '../access/audit.ts';
import { type Db, type Queryable, statement } from '../connection/db.ts';

/**
 * What people decided about alerts, and what the configuration of the scheduler says, which it leaves in
 * the database so that everybody is shown the rules that really hold.
 */

interface RuleRow {
  tenant: string;
  rule: AlertRuleName;
  definition_key: string;
  threshold: number | null;
  window_seconds: number | null;
  enabled: boolean | null;
  updated_at: Date;
}

const COLUMNS = 'tenant, rule, definition_key, threshold, window_seconds, enabled, updated_at';

const LIST = statement<RuleRow>(
  'list_alert_rules',
  `select ${COLUMNS} from longshore.alert_rule where $1::text is null or tenant = $1
   order by tenant, rule, definition_key`,
);

const DEFAULTS = statement<{ value: AlertDefaults }>(
  'alert_defaults',
  `select value from longshore.setting where name = 'alert_defaults'`,
);

/** Of one tenant, or of all of them for who evaluates them. */
export async function readAlertRules(db: Queryable, tenant: string | null): Promise<AlertRules> {
  const stored = (await db.run(LIST, [tenant])).map(ruleOf);
  const [defaults] = await db.run(DEFAULTS);
  return new AlertRules(stored, defaults?.value ?? {});
}

const SAVE_DEFAULTS = statement<{ name: string }>(
  'save_alert_defaults',
  `insert into longshore.setting (name, value) values ('alert_defaults', $1::jsonb)
   on conflict (name) do update set value = excluded.value where setting.value <> excluded.value
   returning name`,
);

export async function saveAlertDefaults(db: Queryable, defaults: AlertDefaults): Promise<void> {
  await db.run(SAVE_DEFAULTS, [JSON.stringify(defaults)]);
}

const LOCK = statement<RuleRow>(
  'lock_alert_rule',
  `select ${COLUMNS} from longshore.alert_rule
   where tenant = $1 and rule = $2 and definition_key = $3 for update`,
);

const SAVE = statement<RuleRow>(
  'save_alert_rule',
  `insert into longshore.alert_rule (tenant, rule, definition_key, threshold, window_seconds, enabled)
   values ($1, $2, $3, $4, $5, $6)
   on conflict (tenant, rule, definition_key) do update
     set threshold = excluded.threshold, window_seconds = excluded.window_seconds,
       enabled = excluded.enabled, updated_at = clock_timestamp()
   returning ${COLUMNS}`,
);

const NOTHING_SAID: AlertChange = { threshold: null, windowSeconds: null, enabled: null };

/** Replaces what the tenant has said of it so far. */
export async function saveAlertRule(
  db: Db,
  by: Actor,
  tenant: string,
  { rule, definitionKey }: { rule: AlertRuleName; definitionKey: string | null },
  { threshold, windowSeconds, enabled }: AlertChange,
): Promise<AlertRuleView> {
  const name = [tenant, rule, definitionKey ?? ''];
  return await db.transaction(async (tx) => {
    const [before] = await tx.run(LOCK, name);
    await tx.run(SAVE, [...name, threshold, windowSeconds, enabled]);
    const was = before ? saidBy(before) : NOTHING_SAID;
    const changes = changesOf(was, { threshold, windowSeconds, enabled });
    const subject = subjectOf(rule, definitionKey);
    await audit(tx, by, { tenant, action: 'alert-rule.save', subject, ...changes });
    return (await readAlertRules(tx, tenant)).view(tenant, rule, definitionKey);
  });
}

const DELETE = statement<RuleRow>(
  'delete_alert_rule',
  `delete from longshore.alert_rule where tenant = $1 and rule = $2 and definition_key = $3
   returning ${COLUMNS}`,
);

/** From now on what is said more generally holds. False when nothing was said. */
export async function deleteAlertRule(
  db: Db,
  by: Actor,
  tenant: string,
  { rule, definitionKey }: { rule: AlertRuleName; definitionKey: string | null },
): Promise<boolean> {
  return await db.transaction(async (tx) => {
    const [gone] = await tx.run(DELETE, [tenant, rule, definitionKey ?? '']);
    const entry = { tenant, action: 'alert-rule.delete', subject: subjectOf(rule, definitionKey) };
    if (gone) await audit(tx, by, { ...entry, before: saidBy(gone) });
    return gone !== undefined;
  });
}

function subjectOf(rule: AlertRuleName, definitionKey: string | null): string {
  return definitionKey === null ? rule : `${rule}:${definitionKey}`;
}

function saidBy(row: RuleRow): AlertChange {
  return { threshold: row.threshold, windowSeconds: row.window_seconds, enabled: row.enabled };
}

function ruleOf(row: RuleRow): TenantRule {
  const { tenant, rule } = row;
  const definitionKey = row.definition_key === '' ? null : row.definition_key;
  return { tenant, rule, definitionKey, ...saidBy(row), updatedAt: row.updated_at.toISOString() };
}
