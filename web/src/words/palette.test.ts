import { expect, it } from 'vitest';
import { bestItems, type PaletteItem } from './palette.ts';

const item = (kind: PaletteItem['kind'], title: string, detail?: string): PaletteItem => ({
  id: `${kind} ${title}`,
  kind,
  title,
  ...(detail !== undefined && { detail }),
});
const all = [
  item('Screen', 'Jobs'),
  item('Screen', 'Dead letters'),
  item('Definition', 'mail.send', 'team-mail'),
  item('Definition', 'crm.mail-sync'),
  item('Schedule', 'nightly', 'mail.send'),
  item('Worker', 'box (7)'),
  item('Action', 'Run mail.send…'),
  item('Action', 'Pause mail.send…'),
  item('Action', 'Resume crm.mail-sync…', 'paused'),
];

it.each([
  ['', ['Jobs', 'Dead letters', 'Run mail.send…', 'Pause mail.send…', 'Resume crm.mail-sync…']],
  [
    'mail',
    [
      'mail.send',
      'crm.mail-sync',
      'Run mail.send…',
      'Pause mail.send…',
      'Resume crm.mail-sync…',
      'nightly',
    ],
  ],
  ['send', ['mail.send', 'Run mail.send…', 'Pause mail.send…', 'nightly']],
  ['pause', ['Pause mail.send…', 'Resume crm.mail-sync…']],
  ['dltr', ['Dead letters']],
  ['TEAM-mail', ['mail.send']],
  ['box', ['box (7)']],
  ['xyz', []],
])('%j finds %j', (text, titles) => {
  expect(bestItems(all, text).map(({ title }) => title)).toEqual(titles);
});

it('the search for the text is the last entry, however many match', () => {
  const search = item('Search', 'Search the jobs for “mail”');
  const many = Array.from({ length: 20 }, (_, at) => item('Definition', `mail.${at}`));
  expect(bestItems([search, ...many], 'mail').at(-1)).toBe(search);
  expect(bestItems([...all, search], 'xyz')).toEqual([search]);
  expect(bestItems([...all, search], '')).not.toContain(search);
});

it('a job that the server found is above what only resembles it', () => {
  const job = item('Job', '5a4f3c2e1400');
  expect(bestItems([...all, job], '5a4f')[0]).toBe(job);
});
