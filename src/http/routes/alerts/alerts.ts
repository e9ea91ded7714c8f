import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import {
  ALERT_RULES,
  type AlertRuleName,
  thresholdMax,
  windowSecondsMax,
} from '../../../core/alert/alert.ts';
import { rulesOf } from '../../../core/alert/alert-rules.ts';
import { isJobId } from '../../../core/job/job-id.ts';
import { unknownName } from '../../../core/values/nearest.ts';
import {
  AlertAnswer,
  AlertIdParams,
  AlertPageAnswer,
  AlertQuery,
  AlertRuleAnswer,
  AlertRuleBody,
  AlertRuleParams,
  AlertRuleQuery,
  AlertRulesAnswer,
  AlertSilenceBody,
} from '../../../protocol/alert.ts';
import { parseBody } from '../../../protocol/requests/parse-body.ts';
import { parseNothing } from '../../../protocol/requests/parse-nothing.ts';
import { Refusal } from '../../../protocol/refusal.ts';
import {
  deleteAlertRule,
  readAlertRules,
  saveAlertRule,
} from '../../../store/alerts/alert-rules.ts';
import { listAlerts } from '../../../store/alerts/alerts.ts';
import { endSilence, silenceAlert } from '../../../store/alerts/silence-alerts.ts';
import { actorOf } from '../../access/caller.ts';
import { nextLink, readHistoryCursor } from '../../cursors/cursor.ts';
import type { HttpDeps } from '../../deps.ts';
import { answer, bodyRefusals, refusals } from '../../openapi.ts';
import { tenantOf } from '../../access/tenant.ts';

const changing = bodyRefusals('NOT_FOUND');

const LIST = {
  operationId: 'listAlerts',
  tags: ['alerts'],
  summary: 'List alerts',
  description:
    'Firing and resolved alerts, newest first, page by page. Resolved alerts are kept as long as ' +
    'jobs.',
  querystring: AlertQuery,
  response: { 200: answer('A page of alerts.', AlertPageAnswer), ...refusals('UNAVAILABLE') },
};

const SILENCE = {
  operationId: 'silenceAlert',
  tags: ['alerts'],
  summary: 'Silence an alert',
  description:
    'The alert stays listed, and nothing is sent about it. With seconds, this also holds for an ' +
    'alert of the same rule about the same subject that fires before the end. Repeat it to change ' +
    'the end.',
  params: AlertIdParams,
  body: AlertSilenceBody,
  response: { 200: answer('The alert.', AlertAnswer), ...changing },
};

const UNSILENCE = {
  operationId: 'unsilenceAlert',
  tags: ['alerts'],
  summary: 'End the silence of an alert',
  description: 'Routes that have not sent the alert send it now.',
  params: AlertIdParams,
  response: { 200: answer('The alert.', AlertAnswer), ...changing },
};

const RULES = {
  operationId: 'listAlertRules',
  tags: ['alerts'],
  summary: 'List alert rules',
  description: 'The effective rules for all definitions, and those for single definitions.',
  response: { 200: answer('The rules.', AlertRulesAnswer), ...refusals('UNAVAILABLE') },
};

const PUT = {
  operationId: 'saveAlertRule',
  tags: ['alerts'],
  summary: 'Change an alert rule',
  description:
    'For all definitions or for one. Replaces an earlier change; omitted fields keep the more ' +
    'general value. Takes effect within seconds.',
  params: AlertRuleParams,
  body: AlertRuleBody,
  response: { 200: answer('The effective rule.', AlertRuleAnswer), ...changing },
};

const DELETE = {
  operationId: 'deleteAlertRule',
  tags: ['alerts'],
  summary: 'Remove a change of an alert rule',
  description: 'The configuration or the default applies again.',
  params: AlertRuleParams,
  querystring: AlertRuleQuery,
  response: { 204: z.null().describe('The change was removed.'), ...changing },
};

export function alertsRoutes(app: FastifyInstance, { db }: HttpDeps): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  const reads = { access: 'jobs:read' } as const;
  const operates = { access: 'operate' } as const;

  typed.get('/v1/alerts', { schema: LIST, config: reads }, async (request, reply) => {
    const { status, rule, definitionKey, cursor, limit } = request.query;
    const { alerts, nextId } = await listAlerts(db, tenantOf(request), {
      status: status ?? null,
      rule: rule ?? null,
      definitionKey: definitionKey ?? null,
      // The id of an alert is its cursor.
      afterId: cursor === undefined ? null : readHistoryCursor(cursor, isJobId),
      limit,
    });
    if (nextId !== null) void reply.header('link', nextLink(request.url, nextId));
    return reply.send({ alerts, nextCursor: nextId });
  });

  typed.put(
    '/v1/alerts/:alertId/silence',
    { schema: SILENCE, config: operates },
    async (request) => {
      const { alertId } = request.params;
      const { seconds } = parseBody(AlertSilenceBody, request.body);
      if (!isJobId(alertId)) throw notFiring(alertId);
      const tenant = tenantOf(request);
      const silenced = await silenceAlert(db, actorOf(request), tenant, alertId, seconds);
      if (!silenced) throw notFiring(alertId);
      return silenced;
    },
  );

  typed.delete(
    '/v1/alerts/:alertId/silence',
    { schema: UNSILENCE, config: operates },
    async (request) => {
      parseNothing(request.body);
      const { alertId } = request.params;
      if (!isJobId(alertId)) throw notFiring(alertId);
      const ended = await endSilence(db, actorOf(request), tenantOf(request), alertId);
      if (!ended) throw notFiring(alertId);
      return ended;
    },
  );

  app.get('/v1/alerts/rules', { schema: RULES, config: reads }, async (request) => {
    const tenant = tenantOf(request);
    return { rules: (await readAlertRules(db, tenant)).list(tenant) };
  });

  typed.put('/v1/alerts/rules/:rule', { schema: PUT, config: operates }, async (request) => {
    const tenant = tenantOf(request);
    const rule = ruleNamed(request.params.rule, tenant);
    const body = parseBody(AlertRuleBody, request.body);
    const { definitionKey = null, threshold = null, windowSeconds = null } = body;
    const { enabled = null, severity = null } = body;
    refuseMisfits(rule, { definitionKey, threshold, windowSeconds });
    const scope = { rule, definitionKey };
    const change = { threshold, windowSeconds, enabled, severity };
    return await saveAlertRule(db, actorOf(request), tenant, scope, change);
  });

  typed.delete(
    '/v1/alerts/rules/:rule',
    { schema: DELETE, config: operates },
    async (request, reply) => {
      parseNothing(request.body);
      const tenant = tenantOf(request);
      const rule = ruleNamed(request.params.rule, tenant);
      const { definitionKey = null } = request.query;
      const gone = await deleteAlertRule(db, actorOf(request), tenant, { rule, definitionKey });
      if (!gone) throw new Refusal('NOT_FOUND', `${rule} has no change to remove`);
      return reply.code(204).send(null);
    },
  );
}

function notFiring(id: string): Refusal {
  return new Refusal('NOT_FOUND', `no firing alert has the id ${JSON.stringify(id.slice(0, 63))}`);
}

function ruleNamed(name: string, tenant: string): AlertRuleName {
  const known = rulesOf(tenant);
  const found = known.find((rule) => rule === name);
  if (!found) throw new Refusal('NOT_FOUND', unknownName('rule', name, known));
  return found;
}

/** Checks that depend on the rule. */
function refuseMisfits(
  rule: AlertRuleName,
  wanted: { definitionKey: string | null; threshold: number | null; windowSeconds: number | null },
): void {
  const { perDefinition, windowSeconds: hasWindow } = ALERT_RULES[rule];
  const max = thresholdMax(rule);
  if (wanted.definitionKey !== null && !perDefinition) {
    throw misfit('definitionKey', `${rule} is not measured per definition: omit definitionKey`);
  }
  if (wanted.windowSeconds !== null && hasWindow === null) {
    throw misfit('windowSeconds', `${rule} has no window`);
  }
  const secondsMax = windowSecondsMax(rule);
  if ((wanted.windowSeconds ?? 0) > secondsMax) {
    throw misfit('windowSeconds', `must be a whole number from 1 to ${secondsMax}`);
  }
  if ((wanted.threshold ?? 0) > max) {
    throw misfit('threshold', `must be a whole number from 1 to ${max}`);
  }
}

function misfit(field: string, detail: string): Refusal {
  const errors = [{ pointer: `/${field}`, detail }];
  return new Refusal('VALIDATION_FAILED', `/${field}: ${detail}`, { errors });
}
