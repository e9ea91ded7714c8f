import { expect, it } from 'vitest';
import { type Target, alertTarget, auditTarget } from './target.ts';

it.each<[string, Target]>([
  ['job.cancel', { at: 'job', jobId: 'x' }],
  ['job.delete', { at: 'audit', subject: 'x' }],
  ['batch.close', { at: 'batch', batchId: 'x' }],
  ['schedule.trigger', { at: 'schedule', scheduleId: 'x' }],
  ['schedule.delete', { at: 'audit', subject: 'x' }],
  ['webhook.create', { at: 'webhook', webhookId: 'x' }],
  ['definition.pause', { at: 'definition', key: 'x' }],
  ['deployment.rollback', { at: 'deployment', number: 'x' }],
  ['budget.save', { at: 'usage', definitionKey: null }],
  ['budget.delete', { at: 'audit', subject: 'x' }],
  ['key.revoke', { at: 'audit', subject: 'x' }],
])('what was done by %s is looked at where it is', (action, target) => {
  expect(auditTarget({ action, subject: 'x' })).toEqual(target);
});

it('an alert leads to the nearest thing that it is about', () => {
  const nothing = {
    rule: 'stuck' as const,
    jobId: null,
    scheduleId: null,
    webhookId: null,
    definitionKey: null,
  };
  expect(
    alertTarget({ rule: 'stuck', jobId: 'j', scheduleId: 's', webhookId: null, definitionKey: 'd' })
      ?.at,
  ).toBe('job');
  expect(
    alertTarget({ ...nothing, scheduleId: 's', webhookId: null, definitionKey: 'd' })?.at,
  ).toBe('schedule');
  expect(alertTarget({ ...nothing, definitionKey: 'd' })?.at).toBe('definition');
  expect(alertTarget(nothing)).toBeNull();
  expect(alertTarget({ ...nothing, webhookId: 'w' })).toEqual({ at: 'webhook', webhookId: 'w' });
  const dead = { ...nothing, rule: 'dead-letters' as const, jobId: 'j', definitionKey: 'd' };
  expect(alertTarget(dead)).toMatchObject({ at: 'dead-letters', definitionKey: 'd' });
  const budget = { ...nothing, rule: 'budget-exceeded' as const, definitionKey: 'd' };
  expect(alertTarget(budget)).toEqual({ at: 'usage', definitionKey: 'd' });
});
