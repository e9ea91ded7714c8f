import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { access, chmod, mkdir, readFile, symlink, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { scratch } from '../../test/support/artifacts/scratch.ts';
import { packFolder } from './pack.ts';
import { inspectArchive } from './read-archive.ts';
import { receiveArchive } from './receive.ts';
import { unpack } from './unpack.ts';

const LONG = `${'long/'.repeat(60)}é.txt`;
const FILES: Record<string, string> = {
  'longshore.json':
    '{"longshore":1,"runtime":"command","definitions":[{"key":"a","entrypoint":["./run.sh"]}]}',
  'run.sh': '#!/bin/sh\n',
  [LONG]: 'x'.repeat(1_000),
  'a-b': '1',
  'a/b': '2',
  empty: '',
};

async function folderWith(paths: string[]): Promise<string> {
  const folder = join(await scratch(), 'in');
  for (const path of paths) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), FILES[path] ?? '');
  }
  await chmod(join(folder, 'run.sh'), 0o755);
  return folder;
}

it('gives the same bytes for the same content', async () => {
  const paths = Object.keys(FILES);
  const [one, other] = [await folderWith(paths), await folderWith(paths.toReversed())];
  await chmod(join(other, 'empty'), 0o600);
  await utimes(join(other, 'empty'), 1, 1);
  await mkdir(join(other, '.git'));
  const packed = await packFolder(one, `${one}.tar.gz`);
  expect(await packFolder(other, `${other}.tar.gz`)).toEqual(packed);
  const bytes = await readFile(`${one}.tar.gz`);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  expect(packed).toEqual({ sha256, bytes: bytes.length, files: paths.length });
  await chmod(join(other, 'empty'), 0o755);
  expect((await packFolder(other, `${other}.tar.gz`)).sha256).not.toBe(sha256);
});

it('can be unpacked', async () => {
  const folder = await folderWith(Object.keys(FILES));
  await packFolder(folder, `${folder}.tar.gz`);
  const { files } = await unpack(`${folder}.tar.gz`, `${folder}-out`);
  expect([...files].sort()).toEqual(Object.keys(FILES).sort());
  for (const [path, content] of Object.entries(FILES)) {
    expect(await readFile(join(`${folder}-out`, path), 'utf8')).toBe(content);
  }
  expect(await inspectArchive(`${folder}.tar.gz`)).toMatchObject({ manifest: { app: null } });
});

it('refuses links, which would not be unpacked', async () => {
  const folder = await folderWith(['run.sh']);
  await symlink('run.sh', join(folder, 'link'));
  const packing = packFolder(folder, `${folder}.tar.gz`);
  await expect(packing).rejects.toMatchObject({ code: 'ARCHIVE_LINK' });
});

it('is received with its hash, up to a limit', async () => {
  const folder = await folderWith(Object.keys(FILES));
  const { sha256, bytes } = await packFolder(folder, `${folder}.tar.gz`);
  const upload = () => createReadStream(`${folder}.tar.gz`, { highWaterMark: 100 });
  expect(await receiveArchive(upload(), `${folder}-1`)).toEqual({ sha256, bytes });
  expect((await inspectArchive(`${folder}-1`)).files.size).toBe(Object.keys(FILES).length);
  const tooLarge = receiveArchive(upload(), `${folder}-2`, bytes - 1);
  await expect(tooLarge).rejects.toMatchObject({ code: 'ARCHIVE_TOO_LARGE' });
  await expect(access(`${folder}-2`)).rejects.toThrow('ENOENT');
});
