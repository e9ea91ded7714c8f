import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { TOPICS } from '../../../src/core/views/change-feed.ts';
import { renewedBy, restMsOf } from './news.ts';

it('renews each query once, however many topics it shows', () => {
  expect(renewedBy([])).toEqual([]);
  expect(renewedBy(['alerts'])).toEqual(['alerts']);
  const both = renewedBy(['jobs', 'workers']);
  expect(both.filter((name) => name === 'workers')).toHaveLength(1);
  expect(both).toContain('definitions');
  expect(renewedBy(['unheard-of' as 'jobs'])).toEqual([]);
});

it('asks for what is costly less often', () => {
  expect(restMsOf('stats')).toBeGreaterThan(restMsOf('jobs'));
});

it('knows no query that is not there', () => {
  const folder = new URL('../api/', import.meta.url);
  const sources = readdirSync(folder).map((name) => readFileSync(new URL(name, folder), 'utf8'));
  const names = sources.flatMap((source) =>
    [...source.matchAll(/queryKey: \['([\w-]+)'/g)].map(([, name]) => name),
  );
  expect(names).toContain('jobs');
  expect(renewedBy(TOPICS).filter((name) => !names.includes(name))).toEqual([]);
});
