import { expect, it } from 'vitest';
import type { ReleaseChangeView } from '../../../../src/core/deployment/release-change.ts';
import { deploysIn, deployWords } from './deploys.ts';

const hour = { from: '2030-01-01T10:00:00.000Z', stepMs: 60_000, succeeded: [0, 0, 0] };

it('tells what was published within the time, by minutes', () => {
  const published = (key: string, publishedAt: string) => ({ key, version: 2, publishedAt });
  const deploys = deploysIn(
    hour,
    [
      published('late', '2030-01-01T10:02:10.000Z'),
      published('b', '2030-01-01T10:01:59.000Z'),
      published('a', '2030-01-01T10:01:01.000Z'),
      published('before', '2030-01-01T09:59:59.000Z'),
      published('after', '2030-01-01T10:03:00.000Z'),
    ],
    [],
  );
  expect(deploys).toEqual([
    { at: '2030-01-01T10:01:00.000Z', names: ['a@2', 'b@2'] },
    { at: '2030-01-01T10:02:00.000Z', names: ['late@2'] },
  ]);
});

it('names a few, and counts the rest', () => {
  const words = deployWords({ at: hour.from, names: ['a@1', 'b@1', 'c@1', 'd@1', 'e@1'] }, 60_000);
  expect(words).toMatch(/^\d\d:00 a@1, b@1, c@1 and 2 more$/);
  expect(deployWords({ at: hour.from, names: ['a@1'] }, 900_000)).toMatch(
    /^0?1 Jan,? \d\d:00 a@1$/,
  );
});

it('marks releases, rollbacks and canaries instead of what they published', () => {
  const change = (action: ReleaseChangeView['action'], at: string): ReleaseChangeView => ({
    at,
    action,
    deployment: 2,
    definitions: ['a'],
    canaryPercent: action === 'canary' ? 5 : null,
    by: 'anonymous (no keys)',
    reason: null,
  });
  const a = { key: 'a', version: 2, publishedAt: '2030-01-01T10:00:10.000Z' };
  expect(
    deploysIn(
      hour,
      [a],
      [
        change('rollback', '2030-01-01T10:02:01.000Z'),
        change('canary-end', '2030-01-01T10:01:50.000Z'),
        change('canary', '2030-01-01T10:01:01.000Z'),
        change('promote', '2030-01-01T10:00:11.000Z'),
        change('promote', '2030-01-01T08:00:00.000Z'),
      ],
    ),
  ).toEqual([
    { at: '2030-01-01T10:00:00.000Z', names: ['deployment 2 released'] },
    {
      at: '2030-01-01T10:01:00.000Z',
      names: ['canary of deployment 2 ended', 'canary of deployment 2: 5%'],
    },
    { at: '2030-01-01T10:02:00.000Z', names: ['rolled back to deployment 2'] },
  ]);
});
