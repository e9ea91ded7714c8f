import { z } from 'zod';
import {
  ALERT_RULE_NAMES,
  ALERT_STATUSES,
  type AlertRuleView,
  type AlertView,
  SECONDS_MAX,
} from '../core/views/alert.ts';
import { closed, definitionKey, flag, oneOf, text, whole, wholeInQuery } from './fields.ts';
import { PAGE_DEFAULT, PAGE_MAX } from './requests/job-query.ts';

const Moment = z.iso.datetime();
const Unit = z.enum(['jobs', 'retries', 'percent', 'seconds', 'slots']);

/** What `GET /v1/alerts` can be asked. */
export const AlertQuery = closed({
  status: oneOf('status', ALERT_STATUSES).optional().describe('Only those that are so.'),
  rule: oneOf('rule', ALERT_RULE_NAMES).optional().describe('Only those of this rule.'),
  definitionKey: definitionKey().optional().describe('Only those about this definition.'),
  cursor: text(200).optional().describe('The nextCursor of the page before.'),
  limit: wholeInQuery(1, PAGE_MAX)
    .default(PAGE_DEFAULT)
    .describe(`How many a page holds at most. Default ${PAGE_DEFAULT}.`),
});

export const AlertAnswer = z
  .looseObject({
    id: z.string(),
    rule: z.enum(ALERT_RULE_NAMES),
    tenant: z.string(),
    status: z.enum(ALERT_STATUSES),
    definitionKey: z.string().nullable().describe('The definition that it is about.'),
    scheduleId: z.string().nullable().describe('The schedule that it is about.'),
    jobId: z.string().nullable().describe('One job of those that it is about.'),
    since: Moment.describe('When it fired.'),
    resolvedAt: Moment.nullable(),
    value: z.number().describe('What was measured last, in the unit; counting stops at 10,000.'),
    threshold: z.number(),
    unit: Unit,
    message: z.string().describe('One sentence that says what is wrong.'),
  })
  .meta({ id: 'Alert', description: 'Something is wrong, or was.' }) satisfies z.ZodType<AlertView>;

export const AlertPageAnswer = z.looseObject({
  alerts: z.array(AlertAnswer),
  nextCursor: z.string().nullable().describe('Ask with it for the next page; null at the end.'),
});

export const AlertRuleParams = z.object({
  rule: z
    .string()
    .describe(`The name of the rule: ${ALERT_RULE_NAMES.join(', ')}.`)
    .meta({ examples: ['dead-letters'] }),
});

/** What `PUT /v1/alerts/rules/{rule}` takes. What is left out holds as it is said more generally. */
export const AlertRuleBody = closed({
  definitionKey: definitionKey()
    .nullable()
    .optional()
    .describe('For this definition only. Default null: for all that have no rule of their own.'),
  enabled: flag().optional().describe('Whether it may fire.'),
  threshold: whole(1, SECONDS_MAX).optional().describe('It fires from this value on.'),
  windowSeconds: whole(1, SECONDS_MAX)
    .optional()
    .describe('How far back it counts; only for rules that have a window.'),
});

/** What `DELETE /v1/alerts/rules/{rule}` can be asked. */
export const AlertRuleQuery = closed({
  definitionKey: definitionKey().optional().describe('The rule for this definition only.'),
});

export const AlertRuleAnswer = z
  .looseObject({
    rule: z.enum(ALERT_RULE_NAMES),
    definitionKey: z.string().nullable().describe('Null: all that have no rule of their own.'),
    description: z.string().describe('What it measures.'),
    unit: Unit,
    enabled: z.boolean(),
    threshold: z.number(),
    windowSeconds: z.int().nullable().describe('Null where it measures this moment.'),
    source: z.enum(['default', 'config', 'api']).describe('Who decided.'),
    updatedAt: Moment.nullable(),
  })
  .meta({
    id: 'AlertRule',
    description: 'When an alert fires, as it holds now.',
  }) satisfies z.ZodType<AlertRuleView>;

export const AlertRulesAnswer = z.looseObject({ rules: z.array(AlertRuleAnswer) });
