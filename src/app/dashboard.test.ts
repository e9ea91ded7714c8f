import { mkdir, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { dashboardFolder } from './dashboard.ts';
import { silentLog } from '../runtime/log.ts';

/** A checkout with a builder that counts how often it was run. */
const BUILDER = `
import { appendFileSync, mkdirSync } from 'node:fs';
const folder = new URL('../dist/web/', import.meta.url);
mkdirSync(folder, { recursive: true });
appendFileSync(new URL('index.html', folder), 'built ');
`;
const OLD = new Date('2020-01-01');

let root: string;
const find = async () => await dashboardFolder(silentLog, root)();
const page = async () => await readFile(join(root, 'dist/web/index.html'), 'utf8');

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'longshore-checkout-'));
  for (const folder of ['web/src', 'src/core', 'scripts']) {
    await mkdir(join(root, folder), { recursive: true });
  }
  await writeFile(join(root, 'web/src/main.tsx'), '');
  for (const path of ['web', 'web/src', 'src/core', 'web/src/main.tsx']) {
    await utimes(join(root, path), OLD, OLD);
  }
});
afterEach(async () => await rm(root, { recursive: true }));

describe('the dashboard of a checkout', () => {
  it('is built for the first visitor, and again only when a source has changed', async () => {
    await writeFile(join(root, 'scripts/build-web.ts'), BUILDER);
    expect(await find()).toBe(join(root, 'dist/web'));
    await find();
    expect(await page()).toBe('built ');
    await utimes(join(root, 'dist/web/index.html'), OLD, OLD);
    await writeFile(join(root, 'web/src/main.tsx'), 'changed');
    await find();
    expect(await page()).toBe('built built ');
  });

  it('that cannot be built is the one from before, or none', async () => {
    await writeFile(join(root, 'scripts/build-web.ts'), 'process.exit(1);');
    await expect(find()).rejects.toThrow('the dashboard is not built');
    await mkdir(join(root, 'dist/web'), { recursive: true });
    await writeFile(join(root, 'dist/web/index.html'), 'from before');
    await utimes(join(root, 'dist/web/index.html'), OLD, OLD);
    await writeFile(join(root, 'web/src/main.tsx'), 'changed');
    expect(await find()).toBe(join(root, 'dist/web'));
    expect(await page()).toBe('from before');
  });
});

it('a package has no sources, and carries it', async () => {
  await rm(join(root, 'web'), { recursive: true });
  await mkdir(join(root, 'dist/web'), { recursive: true });
  await writeFile(join(root, 'dist/web/index.html'), 'packed');
  expect(await find()).toBe(join(root, 'dist/web'));
});
