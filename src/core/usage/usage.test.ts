import { expect, it } from 'vitest';
import { isDay, planUsage, type StoredUsage, usageCsv, usageView } from './usage.ts';

const at = new Date('2026-03-10T23:59:59Z');

it.each([
  ['2026-02-28', true],
  ['2026-02-29', false],
  ['2024-02-29', true],
  ['2026-2-1', false],
  ['1969-12-31', false],
  ['today', false],
])('%s is a day: %s', (text, expected) => expect(isDay(text)).toBe(expected));

it.each([
  ['nothing', {}, { from: '2026-02-09', to: '2026-03-10' }],
  ['an end', { to: '2026-01-31' }, { from: '2026-01-02', to: '2026-01-31' }],
  ['a start', { from: '2026-03-01' }, { from: '2026-03-01', to: '2026-03-10' }],
  ['one day', { from: '2026-03-10', to: '2026-03-10' }, { from: '2026-03-10', to: '2026-03-10' }],
  ['a start after the end', { from: '2026-03-11' }, 'must not be after to'],
  ['too many days', { from: '2000-01-01' }, 'must be at most 3660 days before to'],
])('plans %s', (_, asked, expected) => expect(planUsage(asked, at)).toEqual(expected));

function stored(change: Partial<StoredUsage>): StoredUsage {
  const sums = { jobs: 1, attempts: 2, runMs: 1_500, cpuMs: 250, peakRssBytes: null };
  return { day: null, tenant: null, definitionKey: null, ...sums, ...change };
}

const range = { from: '2026-03-01', to: '2026-03-10' };

it('adds up the shards of a group, and all groups', () => {
  const rows = [
    stored({ definitionKey: 'mail', peakRssBytes: 10 }),
    stored({ definitionKey: 'bill' }),
    stored({ definitionKey: 'mail', peakRssBytes: 30, jobs: 4 }),
    stored({ definitionKey: 'mail', peakRssBytes: 20 }),
  ];
  const view = usageView(rows, range, ['definition'], at);
  expect(view.rows).toEqual([
    {
      day: null,
      tenant: null,
      definitionKey: 'bill',
      jobs: 1,
      attempts: 2,
      runSeconds: 1.5,
      cpuSeconds: 0.25,
      peakRssBytes: null,
    },
    {
      day: null,
      tenant: null,
      definitionKey: 'mail',
      jobs: 6,
      attempts: 6,
      runSeconds: 4.5,
      cpuSeconds: 0.75,
      peakRssBytes: 30,
    },
  ]);
  expect(view.total).toMatchObject({ jobs: 7, runSeconds: 6, cpuSeconds: 1, peakRssBytes: 30 });
});

it('orders rows by day, tenant and definition, and writes only the columns of the groups', () => {
  const rows = [
    stored({ day: '2026-03-02', definitionKey: 'a', tenant: 'x' }),
    stored({ day: '2026-03-01', definitionKey: '=b,c', tenant: 'y' }),
    stored({ day: '2026-03-01', definitionKey: 'a', tenant: 'y', peakRssBytes: 7 }),
  ];
  const view = usageView(rows, range, ['definition', 'tenant', 'day'], at);
  expect(view.groupBy).toEqual(['day', 'tenant', 'definition']);
  expect(usageCsv(view).split('\r\n')).toEqual([
    'day,tenant,definitionKey,jobs,attempts,runSeconds,cpuSeconds,peakRssBytes',
    '2026-03-01,y,"\'=b,c",1,2,1.5,0.25,',
    '2026-03-01,y,a,1,2,1.5,0.25,7',
    '2026-03-02,x,a,1,2,1.5,0.25,',
    '',
  ]);
  const all = usageView([stored({})], range, [], at);
  expect(usageCsv(all)).toBe(
    'jobs,attempts,runSeconds,cpuSeconds,peakRssBytes\r\n1,2,1.5,0.25,\r\n',
  );
});

it('does not know the CPU time of attempts that left neither CPU time nor memory', () => {
  const inline = stored({ cpuMs: 0, peakRssBytes: null });
  const view = usageView([inline], range, [], at);
  expect(view.total.cpuSeconds).toBeNull();
  expect(usageCsv(view)).toBe('jobs,attempts,runSeconds,cpuSeconds,peakRssBytes\r\n1,2,1.5,,\r\n');
  const short = usageView([inline, stored({ cpuMs: 0, peakRssBytes: 7 })], range, [], at);
  expect(short.total.cpuSeconds).toBe(0);
});

it('has no rows where nothing happened', () => {
  const view = usageView([], range, ['day'], at);
  expect(view).toMatchObject({ rows: [], total: { jobs: 0, runSeconds: 0, peakRssBytes: null } });
});
