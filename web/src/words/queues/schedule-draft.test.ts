import { describe, expect, it } from 'vitest';
import { SCHEDULE_DEFAULTS, type ScheduleView } from '../../../../src/core/schedule/schedule.ts';
import { BROWSER_ZONE, showZone } from '../zone.ts';
import { bodyOf, draftOf, fieldOf } from './schedule-draft.ts';

const fresh = draftOf(null, 'Europe/Berlin');
const stored = {
  ...SCHEDULE_DEFAULTS,
  name: 'nightly',
  cron: '30 2 * * *',
  timezone: 'Asia/Tokyo',
  startAt: '2030-01-01T00:00:00.000Z',
  jitterMs: 1_500,
} as unknown as ScheduleView;

describe('the form of a schedule', () => {
  it('begins with the defaults and the zone of the browser', () => {
    expect(fresh).toMatchObject({ timezone: 'Europe/Berlin', overlap: 'allow', priority: '0' });
    expect(fresh).toMatchObject({ catchUpHours: '168', jitterSeconds: '0', startAt: '' });
  });

  it('sends everything for a new schedule, in the units of the API', () => {
    const draft = { ...fresh, name: ' nightly ', catchUpHours: '0.5', jitterSeconds: '2' };
    expect(bodyOf(draft, null)).toEqual({
      body: {
        name: 'nightly',
        cron: '0 3 * * *',
        timezone: 'Europe/Berlin',
        overlap: 'allow',
        catchUp: 'latest',
        dstGap: 'shift',
        dstRepeat: 'once',
        catchUpWindowMs: 1_800_000,
        catchUpMax: 100,
        jitterMs: 2_000,
        priority: 0,
        startAt: null,
        endAt: null,
      },
    });
  });

  it('sends only what was changed of a stored one', () => {
    const before = draftOf(stored, 'UTC');
    expect(before).toMatchObject({ name: 'nightly', timezone: 'Asia/Tokyo', jitterSeconds: '1.5' });
    expect(bodyOf(before, before)).toEqual({ body: {} });
    expect(bodyOf({ ...before, startAt: '', name: '' }, before)).toEqual({
      body: { startAt: null, name: null },
    });
    const ends = new Date(2031, 0, 1, 8, 30);
    expect(bodyOf({ ...before, endAt: '2031-01-01T08:30' }, before)).toEqual({
      body: { endAt: ends.toISOString() },
    });
  });

  it('shows and reads times in the zone of the dashboard', () => {
    showZone('Asia/Tokyo');
    const before = draftOf(stored, 'UTC');
    const typed = { ...before, endAt: '2031-01-01T08:30' };
    showZone(BROWSER_ZONE);
    expect(before.startAt).toBe('2030-01-01T09:00');
    showZone('UTC');
    expect(bodyOf(typed, before)).toEqual({ body: { endAt: '2031-01-01T08:30:00.000Z' } });
    showZone(BROWSER_ZONE);
  });

  it.each([
    ['cron', ' '],
    ['timezone', ''],
    ['priority', 'high'],
    ['catchUpHours', ''],
    ['startAt', 'soon'],
  ])('refuses %s %j', (field, text) => {
    expect(bodyOf({ ...fresh, [field]: text }, null)).toEqual({ field, wrong: expect.any(String) });
  });

  it('knows which field an error is about', () => {
    expect(['/cron', '/catchUpWindowMs', '/jitterMs'].map(fieldOf)).toEqual([
      'cron',
      'catchUpHours',
      'jitterSeconds',
    ]);
  });
});
