import fc from 'fast-check';
import { expect, test } from 'vitest';
import { homeShard } from './shard.ts';

// Worked out by another implementation of FNV-1a. These numbers may never change: jobs of existing
// installations live where they say.
test.each([
  ['default', 'image.resize', 1, 0],
  ['default', 'image.resize', 7, 5],
  ['default', 'image.resize', 1_024, 241],
  ['default', 'demo.hello', 1_024, 733],
  ['acme', 'image.resize', 1_024, 18],
  ['zürich', 'büro/日本', 1_024, 981],
])('%s / %s lives, of %i shards, in shard %i', (tenant, key, shards, home) => {
  expect(homeShard(tenant, key, shards)).toBe(home);
});

test('a home is always one of the shards', () => {
  const anyShards = fc.integer({ min: 1, max: 1_024 });
  fc.assert(
    fc.property(fc.string(), fc.string(), anyShards, (tenant, key, shards) => {
      const home = homeShard(tenant, key, shards);
      expect(Number.isInteger(home) && home >= 0 && home < shards).toBe(true);
    }),
  );
});

test('many definitions spread evenly', () => {
  const counts = Array.from({ length: 16 }, () => 0);
  for (let index = 0; index < 16_000; index += 1) {
    const home = homeShard('default', `team.job-${index}`, counts.length);
    counts[home] = (counts[home] ?? 0) + 1;
  }
  expect(Math.min(...counts)).toBeGreaterThan(800);
  expect(Math.max(...counts)).toBeLessThan(1_200);
});
