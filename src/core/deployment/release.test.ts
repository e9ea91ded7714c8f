import { expect, it } from 'vitest';
import { releasedVersion } from './release.ts';

const seeds = Array.from({ length: 2_000 }, (_, n) => `customer-${n}`);

it('is the current deployment without a canary', () => {
  const release = { current: 7, canary: null, canaryPercent: null };
  const seed = () => {
    throw new Error('no seed is needed');
  };
  expect(releasedVersion(release, seed)).toBe(7);
});

it('is the canary for its share of the seeds, always the same ones', () => {
  const release = { current: 7, canary: 8, canaryPercent: 25 };
  const first = seeds.map((seed) => releasedVersion(release, () => seed));
  expect(seeds.map((seed) => releasedVersion(release, () => seed))).toEqual(first);
  const share = first.filter((version) => version === 8).length / seeds.length;
  expect(share).toBeGreaterThan(0.2);
  expect(share).toBeLessThan(0.3);
});

it('keeps its seeds when the share grows', () => {
  const of = (canaryPercent: number) =>
    seeds.filter(
      (seed) => releasedVersion({ current: 7, canary: 8, canaryPercent }, () => seed) === 8,
    );
  const grown = new Set(of(50));
  expect(of(5).every((seed) => grown.has(seed))).toBe(true);
});
