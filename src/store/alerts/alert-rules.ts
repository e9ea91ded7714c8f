import type { AlertRuleName, AlertRuleView, AlertSeverity } from '../../core/alert/alert.ts';
import {
  type AlertChange,
  type AlertDefaults,
  AlertRules,
  type TenantRule,
} from '../../core/alert/alert-rules.ts';
import { changesOf } from '../../core/access/changes.ts';
import { type Actor, audit } from '../access/audit.ts';
import { type Db, type Queryable, statement } from '../connection/db.ts';

/**
 * Alert rules: the settings of operators and tenants, and the configuration of the scheduler, which it
 * stores so that every API shows the rules in force.
 */

interface RuleRow {
  tenant: string;
  rule: AlertRuleName;
  definition_key: string;
  threshold: number | null;
  window_seconds: number | null;
  enabled: boolean | null;
  severity: AlertSeverity | null;
  updated_at: Date;
}

const COLUMNS =
  'tenant, rule, definition_key, threshold, window_seconds, enabled, severity, updated_at';

const LIST = statement<RuleRow>(
  'list_alert_rules',
  `select ${COLUMNS} from longshore.alert_rule where $1::text is null or tenant = $1
   order by tenant, rule, definition_key`,
);

const DEFAULTS = statement<{ value: AlertDefaults }>(
  'alert_defaults',
  `select value from longshore.setting where name = 'alert_defaults'`,
);

/** Of one tenant, or of all for the evaluation. */
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
  `insert into longshore.alert_rule
     (tenant, rule, definition_key, threshold, window_seconds, enabled, severity)
   values ($1, $2, $3, $4, $5, $6, $7)
   on conflict (tenant, rule, definition_key) do update
     set threshold = excluded.threshold, window_seconds = excluded.window_seconds,
       enabled = excluded.enabled, severity = excluded.severity, updated_at = excluded.updated_at
   returning ${COLUMNS}`,
);

const NOTHING_SAID: AlertChange = {
  threshold: null,
  windowSeconds: null,
  enabled: null,
  severity: null,
};

/** Replaces the tenant's setting of the rule. */
export async function saveAlertRule(
  db: Db,
  by: Actor,
  tenant: string,
  { rule, definitionKey }: { rule: AlertRuleName; definitionKey: string | null },
  { threshold, windowSeconds, enabled, severity }: AlertChange,
): Promise<AlertRuleView> {
  const name = [tenant, rule, definitionKey ?? ''];
  return await db.transaction(async (tx) => {
    const [before] = await tx.run(LOCK, name);
    await tx.run(SAVE, [...name, threshold, windowSeconds, enabled, severity]);
    const was = before ? saidBy(before) : NOTHING_SAID;
    const changes = changesOf(was, { threshold, windowSeconds, enabled, severity });
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

/** Deletes the setting, so that the more general one applies. False when there was none. */
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
  const { threshold, window_seconds: windowSeconds, enabled, severity } = row;
  return { threshold, windowSeconds, enabled, severity };
}

function ruleOf(row: RuleRow): TenantRule {
  const { tenant, rule } = row;
  const definitionKey = row.definition_key === '' ? null : row.definition_key;
  return { tenant, rule, definitionKey, ...saidBy(row), updatedAt: row.updated_at.toISOString() };
}
