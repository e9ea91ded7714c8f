import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { watchPaths } from './watch.ts';

let folder = '';
let seen: string[] = [];
const write = (name: string, text = String(Math.random())) => {
  writeFileSync(join(folder, 'jobs', name), text);
};
/** As `sed -i` and many editors save. */
const replace = (name: string) => {
  write('.new', String(Math.random()));
  renameSync(join(folder, 'jobs/.new'), join(folder, 'jobs', name));
};
/** Waits until the change is reported, and forgets it. */
const reported = async (name: string) => {
  await expect.poll(() => seen).toContain(name);
  seen = [];
};

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'longshore-watch-'));
  seen = [];
  mkdirSync(join(folder, 'jobs'));
  write('a.ts');
  const watching = watchPaths([join(folder, 'jobs')], (file) => seen.push(file));
  onTestFinished(() => {
    watching.close();
    rmSync(folder, { recursive: true, force: true });
  });
});

it('sees every change of a file that an editor replaces', async () => {
  for (const save of [replace, replace, write, replace, write, write]) {
    save('a.ts');
    await reported('a.ts');
  }
});

it('sees new folders, and one that was replaced', async () => {
  mkdirSync(join(folder, 'jobs/sub'));
  await reported('sub');
  write('sub/b.ts');
  await reported('sub/b.ts');
  rmSync(join(folder, 'jobs'), { recursive: true });
  mkdirSync(join(folder, 'jobs'));
  await reported('jobs');
  write('c.ts');
  await reported('c.ts');
});

it('ignores hidden files, backups and node_modules', async () => {
  mkdirSync(join(folder, 'jobs/node_modules'));
  write('node_modules/x.js');
  write('.hidden');
  write('a.ts~');
  write('b.ts');
  await reported('b.ts');
});

it('watches a single file', async () => {
  const file = join(folder, 'one.ts');
  writeFileSync(file, '1');
  const found: string[] = [];
  const watching = watchPaths([file], (name) => found.push(name));
  onTestFinished(() => watching.close());
  writeFileSync(join(folder, 'other.ts'), '1');
  writeFileSync(file, '2');
  await expect.poll(() => found).toEqual(['one.ts']);
});
