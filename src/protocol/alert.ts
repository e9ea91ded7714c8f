import { z } from 'zod';
import {
  ALERT_RULE_NAMES,
  ALERT_SEVERITIES,
  ALERT_STATUSES,
  ALERT_UNITS,
  type AlertRuleView,
  type AlertView,
  MILLISECONDS_MAX,
  SECONDS_MAX,
} from '../core/alert/alert.ts';
import {
  closed,
  definitionKey,
  exampleBody,
  flag,
  oneOf,
  text,
  whole,
  wholeInQuery,
} from './fields.ts';
import { PAGE_DEFAULT, PAGE_MAX } from './requests/job-query.ts';

const Moment = z.iso.datetime();
const Unit = z.enum(ALERT_UNITS);

/** Query of `GET /v1/alerts`. */
export const AlertQuery = closed({
  status: oneOf('status', ALERT_STATUSES).optional().describe('Only alerts with this status.'),
  rule: oneOf('rule', ALERT_RULE_NAMES).optional().describe('Only alerts of this rule.'),
  definitionKey: definitionKey().optional().describe('Only alerts of this definition.'),
  cursor: text(200).optional().describe('The nextCursor of the previous page.'),
  limit: wholeInQuery(1, PAGE_MAX)
    .default(PAGE_DEFAULT)
    .describe(`Page size. Default ${PAGE_DEFAULT}.`),
});

export const AlertAnswer = z
  .looseObject({
    id: z.string(),
    rule: z.enum(ALERT_RULE_NAMES),
    tenant: z.string(),
    status: z.enum(ALERT_STATUSES),
    severity: z
      .enum(ALERT_SEVERITIES)
      .describe('A critical alert is sent during quiet hours, too.'),
    definitionKey: z.string().nullable().describe('The definition concerned.'),
    scheduleId: z.string().nullable().describe('The schedule concerned.'),
    webhookId: z.string().nullable().describe('The webhook concerned.'),
    jobId: z.string().nullable().describe('One of the jobs concerned.'),
    owner: z.string().nullable().describe('The owner of the definition.'),
    runbookUrl: z.string().nullable().describe('The runbook of the definition.'),
    since: Moment.describe('When it fired.'),
    resolvedAt: Moment.nullable(),
    value: z.number().describe('The last measured value, in the unit; counts stop at 10,000.'),
    threshold: z.number(),
    unit: Unit,
    message: z.string().describe('Description of the problem.'),
    silenced: z
      .object({
        until: Moment.nullable().describe('Null: until it is resolved.'),
        by: z.string().describe('Who silenced it.'),
      })
      .nullable()
      .describe('While it is silenced, nothing is sent about it.'),
  })
  .meta({ id: 'Alert', description: 'A firing or resolved alert.' }) satisfies z.ZodType<AlertView>;

export const AlertPageAnswer = z.looseObject({
  alerts: z.array(AlertAnswer),
  nextCursor: z.string().nullable().describe('Cursor of the next page; null at the end.'),
});

export const AlertIdParams = z.object({
  alertId: z
    .string()
    .describe('The id of the alert.')
    .meta({ examples: ['0199f0a1-7c3e-7000-9b1d-5a4f3c2e1400'] }),
});

/** Body of `PUT /v1/alerts/{alertId}/silence`. */
export const AlertSilenceBody = closed({
  seconds: whole(1, SECONDS_MAX)
    .nullable()
    .default(null)
    .describe('How long to send nothing about it. Default null: until it is resolved.'),
}).meta(exampleBody({ seconds: 3_600 }));

export const AlertRuleParams = z.object({
  rule: z
    .string()
    .describe(`The name of the rule: ${ALERT_RULE_NAMES.join(', ')}.`)
    .meta({ examples: ['dead-letters'] }),
});

/** Body of `PUT /v1/alerts/rules/{rule}`. Omitted fields keep the more general value. */
export const AlertRuleBody = closed({
  definitionKey: definitionKey()
    .nullable()
    .optional()
    .describe(
      'Only for this definition. Default null: for all definitions without their own rule.',
    ),
  enabled: flag().optional().describe('Whether the rule is active.'),
  threshold: whole(1, MILLISECONDS_MAX).optional().describe('Fires at this value or above.'),
  windowSeconds: whole(1, SECONDS_MAX)
    .optional()
    .describe('Length of the window; only for rules that have one.'),
  severity: oneOf('severity', ALERT_SEVERITIES)
    .optional()
    .describe('A critical alert is sent during quiet hours, too. Default warning.'),
}).meta(exampleBody({ threshold: 3 }));

/** Query of `DELETE /v1/alerts/rules/{rule}`. */
export const AlertRuleQuery = closed({
  definitionKey: definitionKey().optional().describe('The rule of this definition.'),
});

export const AlertRuleAnswer = z
  .looseObject({
    rule: z.enum(ALERT_RULE_NAMES),
    definitionKey: z.string().nullable().describe('Null: all definitions without their own rule.'),
    description: z.string().describe('What it measures.'),
    unit: Unit,
    enabled: z.boolean(),
    threshold: z.number(),
    windowSeconds: z.int().nullable().describe('Null for rules without a window.'),
    severity: z.enum(ALERT_SEVERITIES),
    source: z.enum(['default', 'config', 'api']).describe('Source of the values.'),
    updatedAt: Moment.nullable(),
  })
  .meta({
    id: 'AlertRule',
    description: 'An alert rule with its effective values.',
  }) satisfies z.ZodType<AlertRuleView>;

export const AlertRulesAnswer = z.looseObject({ rules: z.array(AlertRuleAnswer) });
