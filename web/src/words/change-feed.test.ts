import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { TOPICS } from '../../../src/core/views/change-feed.ts';
import { refetchedBy, minIntervalMs } from './change-feed.ts';

it('renews each query once, however many topics it shows', () => {
  expect(refetchedBy([])).toEqual([]);
  expect(refetchedBy(['alerts'])).toEqual(['alerts']);
  const both = refetchedBy(['jobs', 'workers']);
  expect(both.filter((name) => name === 'workers')).toHaveLength(1);
  expect(both).toContain('definitions');
  expect(refetchedBy(['unheard-of' as 'jobs'])).toEqual([]);
});

it('asks for what is costly less often', () => {
  expect(minIntervalMs('stats')).toBeGreaterThan(minIntervalMs('jobs'));
});

it('knows no query that is not there', () => {
  const folder = new URL('../', import.meta.url);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const queries = files.filter((name) => /^(api|screens)\/.*\.ts$/.test(name));
  const sources = queries.map((name) => readFileSync(new URL(name, folder), 'utf8'));
  const names = sources.flatMap((source) =>
    [...source.matchAll(/queryKey: \['([\w-]+)'/g)].map(([, name]) => name),
  );
  expect(names).toContain('jobs');
  expect(refetchedBy(TOPICS).filter((name) => !names.includes(name))).toEqual([]);
});
