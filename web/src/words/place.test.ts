import { expect, it } from 'vitest';
import { type Place, placeOfAlert, auditCursorOf } from './place.ts';

it.each<[string, Place]>([
  ['job.cancel', { at: 'job', jobId: 'x' }],
  ['job.delete', { at: 'audit', subject: 'x' }],
  ['schedule.trigger', { at: 'schedule', scheduleId: 'x' }],
  ['schedule.delete', { at: 'audit', subject: 'x' }],
  ['webhook.create', { at: 'webhook', webhookId: 'x' }],
  ['definition.pause', { at: 'definition', key: 'x' }],
  ['key.revoke', { at: 'audit', subject: 'x' }],
])('what was done by %s is looked at where it is', (action, place) => {
  expect(auditCursorOf({ action, subject: 'x' })).toEqual(place);
});

it('an alert leads to the nearest thing that it is about', () => {
  const nothing = { jobId: null, scheduleId: null, definitionKey: null };
  expect(placeOfAlert({ jobId: 'j', scheduleId: 's', definitionKey: 'd' })?.at).toBe('job');
  expect(placeOfAlert({ ...nothing, scheduleId: 's', definitionKey: 'd' })?.at).toBe('schedule');
  expect(placeOfAlert({ ...nothing, definitionKey: 'd' })?.at).toBe('definition');
  expect(placeOfAlert(nothing)).toBeNull();
});
