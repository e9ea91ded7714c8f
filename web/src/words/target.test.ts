import { expect, it } from 'vitest';
import { type Target, alertTarget, auditTarget } from './target.ts';

it.each<[string, Target]>([
  ['job.cancel', { at: 'job', jobId: 'x' }],
  ['job.delete', { at: 'audit', subject: 'x' }],
  ['schedule.trigger', { at: 'schedule', scheduleId: 'x' }],
  ['schedule.delete', { at: 'audit', subject: 'x' }],
  ['webhook.create', { at: 'webhook', webhookId: 'x' }],
  ['definition.pause', { at: 'definition', key: 'x' }],
  ['key.revoke', { at: 'audit', subject: 'x' }],
])('what was done by %s is looked at where it is', (action, target) => {
  expect(auditTarget({ action, subject: 'x' })).toEqual(target);
});

it('an alert leads to the nearest thing that it is about', () => {
  const nothing = { jobId: null, scheduleId: null, definitionKey: null };
  expect(alertTarget({ jobId: 'j', scheduleId: 's', definitionKey: 'd' })?.at).toBe('job');
  expect(alertTarget({ ...nothing, scheduleId: 's', definitionKey: 'd' })?.at).toBe('schedule');
  expect(alertTarget({ ...nothing, definitionKey: 'd' })?.at).toBe('definition');
  expect(alertTarget(nothing)).toBeNull();
});
