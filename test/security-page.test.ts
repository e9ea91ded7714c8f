import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { expect, test } from 'vitest';

/** `docs/operate/security.md` promises a test for each attack, or says that there is none. */

const root = new URL('../', import.meta.url);
const page = readFileSync(new URL('docs/operate/security.md', root), 'utf8');

test('names every attack once', () => {
  const numbers = [...page.matchAll(/^\| (\d+) \|/gm)].map(([, number]) => Number(number));
  expect(numbers).toEqual(Array.from({ length: 34 }, (_, index) => index + 1));
});

test('names only tests that are there', () => {
  const there = new Set(
    ['src', 'test'].flatMap((folder) =>
      readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' }).map((path) =>
        basename(path),
      ),
    ),
  );
  const named = [...page.matchAll(/`([\w-]+(\*)?\.test\.ts)`/g)].flatMap(([, name = '', star]) =>
    star ? [] : [name],
  );
  expect(named.length).toBeGreaterThan(50);
  expect(named.filter((name) => !there.has(name))).toEqual([]);
});
