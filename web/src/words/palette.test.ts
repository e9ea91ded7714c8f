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
];

it.each([
  ['', ['Jobs', 'Dead letters', 'Run mail.send…']],
  ['mail', ['mail.send', 'crm.mail-sync', 'Run mail.send…', 'nightly']],
  ['send', ['mail.send', 'Run mail.send…', 'nightly']],
  ['dltr', ['Dead letters']],
  ['TEAM-mail', ['mail.send']],
  ['box', ['box (7)']],
  ['xyz', []],
])('%j finds %j', (text, titles) => {
  expect(bestItems(all, text).map(({ title }) => title)).toEqual(titles);
});

it('a job that the server found is above what only resembles it', () => {
  const job = item('Job', '5a4f3c2e1400');
  expect(bestItems([...all, job], '5a4f')[0]).toBe(job);
});
