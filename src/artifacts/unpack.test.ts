import { lstat, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scratch } from '../../test/support/artifacts/scratch.ts';
import { pax, tarBytes, type TarEntry, tarGz } from '../../test/support/artifacts/tar-bytes.ts';
import { zipBytes, type ZipEntry } from '../../test/support/artifacts/zip-bytes.ts';
import { ArtifactError } from '../core/artifact/artifact-error.ts';
import type { ArchiveLimits } from './archive-limits.ts';
import { inspectArchive } from './read-archive.ts';
import { unpack } from './unpack.ts';

const MANIFEST = {
  name: 'longshore.json',
  content: '{"longshore":1,"runtime":"node","definitions":[{"key":"a","entrypoint":"main:run"}]}',
};
const MAIN = { name: 'main.js', content: 'export const run = () => 1;\n' };
const GOOD = [MANIFEST, MAIN];
const LINK = 0o120777;
const random = Buffer.from(Array.from({ length: 4_096 }, (_, at) => (at * at * 31) % 251));

async function stored(bytes: Buffer): Promise<{ file: string; folder: string; root: string }> {
  const root = await scratch();
  const file = join(root, 'archive');
  await writeFile(file, bytes);
  return { root, file, folder: join(root, 'out') };
}

/** Both ways to read it refuse it, and nothing is left of it. */
async function refusal(bytes: Buffer, limits: Partial<ArchiveLimits> = {}): Promise<string> {
  const { root, file, folder } = await stored(bytes);
  const code = async (work: Promise<unknown>) =>
    await work.then(
      () => 'accepted',
      (error: unknown) => (error as { code?: string }).code ?? String(error),
    );
  const unpacked = await code(unpack(file, folder, { limits }));
  expect(await readdir(root)).toEqual(['archive']);
  expect(await code(inspectArchive(file, { limits }))).toBe(unpacked);
  return unpacked;
}

const tarWith = (...entries: TarEntry[]) => tarGz([...GOOD, ...entries]);
const zipWith = (...entries: ZipEntry[]) => zipBytes([...GOOD, ...entries]);

describe('a good archive', () => {
  const more = [
    { name: './bin/', type: '5', mode: 0o42755 },
    { name: './bin/run.sh', content: '#!/bin/sh\n', mode: 0o100755 },
    { name: 'data/deep/é.bin', content: random, mode: 0o600 },
    { name: 'empty', content: '' },
  ];
  it.each([
    ['tar.gz', tarGz([{ name: './', type: '5' }, ...GOOD, ...more])],
    ['zip', zipBytes([...GOOD, ...more.map((one) => ({ method: 0, ...one }))])],
  ])('of the format %s is unpacked, read-only', async (format, bytes) => {
    const { file, folder } = await stored(bytes);
    const content = await unpack(file, folder);
    expect(content).toMatchObject({
      format,
      manifest: { definitions: [{ entrypoint: { module: 'main.js', export: 'run' } }] },
      bytes: MANIFEST.content.length + MAIN.content.length + 10 + random.length,
    });
    const files = ['bin/run.sh', 'data/deep/é.bin', 'empty', 'longshore.json', 'main.js'];
    expect([...content.files].sort()).toEqual(files);
    expect(await readFile(join(folder, 'data/deep/é.bin'))).toEqual(random);
    const modes = { '': 0o555, bin: 0o555, 'bin/run.sh': 0o555, 'data/deep': 0o555, empty: 0o444 };
    for (const [path, mode] of Object.entries({ ...modes, 'data/deep/é.bin': 0o444 })) {
      expect([path, (await lstat(join(folder, path))).mode & 0o7777]).toEqual([path, mode]);
    }
    expect(await inspectArchive(file)).toEqual(content);
  });

  it('may have long paths and a manifest elsewhere', async () => {
    const long = `${'a'.repeat(200)}/${'b'.repeat(200)}`;
    const { file } = await stored(tarGz([pax({ path: long }), { name: 'short', content: 'x' }]));
    const { files, manifest } = await inspectArchive(file, { manifest: 'optional' });
    expect([[...files], manifest]).toEqual([[long], null]);
  });

  it('has the long paths of GNU, too', async () => {
    const long = `${'a'.repeat(120)}/b`;
    const name = { name: '././@LongLink', type: 'L', content: `${long}\0` };
    const { file } = await stored(tarGz([...GOOD, name, { name: 'a', content: 'x' }]));
    expect([...(await inspectArchive(file)).files]).toContain(long);
  });
});

describe('a hostile archive is refused with its own code', () => {
  const good = tarGz(GOOD);
  const zip = zipBytes(GOOD);
  const big = Buffer.alloc(3_000_000);
  it.each<[string, string, Buffer, Partial<ArchiveLimits>?]>([
    ['ARCHIVE_LINK', 'link', tarWith({ name: 'a', type: '2', link: '/etc/passwd' })],
    ['ARCHIVE_LINK', 'link in a zip', zipWith({ name: 'a', content: '/etc/passwd', mode: LINK })],
    [
      'ARCHIVE_LINK',
      'link and a file through it',
      tarWith({ name: 'a', type: '2', link: '/tmp' }, { name: 'a/b', content: 'x' }),
    ],
    ['ARCHIVE_HARD_LINK', 'hard link', tarWith({ name: 'a', type: '1', link: 'main.js' })],
    ['ARCHIVE_DEVICE', 'character device', tarWith({ name: 'a', type: '3' })],
    ['ARCHIVE_DEVICE', 'block device', tarWith({ name: 'a', type: '4' })],
    ['ARCHIVE_DEVICE', 'pipe', tarWith({ name: 'a', type: '6' })],
    ['ARCHIVE_DEVICE', 'sparse file', tarWith({ name: 'a', type: 'S' })],
    ['ARCHIVE_DEVICE', 'dump of a folder', tarWith({ name: 'a', type: 'D' })],
    ['ARCHIVE_DEVICE', 'unknown type', tarWith({ name: 'a', type: 'Q' })],
    ['ARCHIVE_DEVICE', 'device in a zip', zipWith({ name: 'a', mode: 0o020644 })],
    ['ARCHIVE_DEVICE', 'huge header', tarWith({ name: 'a', type: 'x', content: big })],
    ['ARCHIVE_SETUID', 'setuid', tarWith({ name: 'a', mode: 0o4755 })],
    ['ARCHIVE_SETUID', 'setgid', tarWith({ name: 'a', mode: 0o2755 })],
    ['ARCHIVE_SETUID', 'setuid in a zip', zipWith({ name: 'a', mode: 0o104755 })],
    ['ARCHIVE_ABSOLUTE_PATH', 'absolute path', tarWith({ name: '/etc/cron.d/x' })],
    ['ARCHIVE_ABSOLUTE_PATH', 'absolute path of pax', tarWith(pax({ path: '/x' }), { name: 'a' })],
    ['ARCHIVE_ABSOLUTE_PATH', 'absolute path in a zip', zipWith({ name: '/x' })],
    ['ARCHIVE_PARENT_PATH', '..', tarWith({ name: 'a/../../x' })],
    ['ARCHIVE_PARENT_PATH', '.. of pax', tarWith(pax({ path: '../x' }), { name: 'a' })],
    ['ARCHIVE_PARENT_PATH', '.. in a zip', zipWith({ name: '../x' })],
    ['ARCHIVE_PARENT_PATH', 'folder ..', tarWith({ name: '../', type: '5' })],
    ['ARCHIVE_BACKSLASH', 'backslash', tarWith({ name: 'a\\b' })],
    ['ARCHIVE_BACKSLASH', 'backslash in a zip', zipWith({ name: '..\\b' })],
    ['ARCHIVE_NUL', 'NUL', tarWith(pax({ path: 'a\0b' }), { name: 'a' })],
    [
      'ARCHIVE_NUL',
      'NUL of GNU',
      tarWith({ name: 'x', type: 'L', content: 'a\0b\0' }, { name: 'a' }),
    ],
    ['ARCHIVE_NUL', 'NUL in a zip', zipWith({ name: 'a\0b' })],
    ['ARCHIVE_DRIVE_LETTER', 'drive letter', tarWith({ name: 'C:/x' })],
    ['ARCHIVE_DRIVE_LETTER', 'drive letter in a zip', zipWith({ name: 'c:x' })],
    ['ARCHIVE_PATH_INVALID', 'not UTF-8', tarWith({ name: Buffer.from([0x61, 0xff]) })],
    ['ARCHIVE_PATH_INVALID', 'not UTF-8 in a zip', zipWith({ name: Buffer.from([0x61, 0xff]) })],
    ['ARCHIVE_PATH_INVALID', 'empty name in a zip', zipWith({ name: '' })],
    ['ARCHIVE_PATH_INVALID', 'file without a name', zipWith({ name: '.' })],
    ['ARCHIVE_DUPLICATE', 'duplicate', tarWith(MAIN)],
    ['ARCHIVE_DUPLICATE', 'second manifest', tarWith({ ...MANIFEST, name: './longshore.json' })],
    ['ARCHIVE_DUPLICATE', 'duplicate in a zip', zipWith(MAIN)],
    ['ARCHIVE_DUPLICATE', 'file as a folder', tarWith({ name: 'main.js/x' })],
    ['ARCHIVE_NAME_CLASH', 'case', tarWith({ name: 'Main.js' })],
    ['ARCHIVE_NAME_CLASH', 'case in a zip', zipWith({ name: 'LONGSHORE.JSON' })],
    ['ARCHIVE_NAME_CLASH', 'Unicode', tarWith({ name: '\u00e9' }, { name: 'e\u0301' })],
    ['ARCHIVE_TOO_MANY_ENTRIES', 'too many', tarWith({ name: 'a' }), { entriesMax: 2 }],
    ['ARCHIVE_TOO_MANY_ENTRIES', 'in a zip', zipWith({ name: 'a' }), { entriesMax: 2 }],
    [
      'ARCHIVE_TOO_MANY_ENTRIES',
      'headers without entries',
      tarWith(...Array.from({ length: 10 }, () => pax({ comment: 'x' })), { name: 'a' }),
      { entriesMax: 9 },
    ],
    [
      'ARCHIVE_ENTRY_TOO_LARGE',
      'entry',
      tarWith({ name: 'a', content: random }),
      { entryBytesMax: 4_095 },
    ],
    [
      'ARCHIVE_ENTRY_TOO_LARGE',
      'in a zip',
      zipWith({ name: 'a', content: random }),
      { entryBytesMax: 4_095 },
    ],
    ['ARCHIVE_ENTRY_TOO_LARGE', 'lying size', tarWith({ name: 'a', size: 0o7777_7777_777 })],
    [
      'ARCHIVE_TOO_LARGE',
      'content',
      tarWith({ name: 'a', content: random }),
      { contentBytesMax: 4_100 },
    ],
    [
      'ARCHIVE_TOO_LARGE',
      'in a zip',
      zipWith({ name: 'a', content: random }),
      { contentBytesMax: 4_100 },
    ],
    ['ARCHIVE_TOO_LARGE', 'archive', good, { archiveBytesMax: good.length - 1 }],
    ['ARCHIVE_BOMB', 'bomb', tarWith({ name: 'a', content: big }), { ratioFreeBytes: 2_000_000 }],
    [
      'ARCHIVE_BOMB',
      'in a zip',
      zipWith({ name: 'a', content: big }),
      { ratioFreeBytes: 2_000_000 },
    ],
    [
      'ARCHIVE_BOMB',
      'after the end',
      gzipSync(Buffer.concat([tarBytes(GOOD), big])),
      { ratioFreeBytes: 2_000_000 },
    ],
    ['ARCHIVE_TRUNCATED', 'gzip', good.subarray(0, good.length - 20)],
    ['ARCHIVE_TRUNCATED', 'tar in an entry', gzipSync(tarBytes(GOOD).subarray(0, 700))],
    ['ARCHIVE_TRUNCATED', 'tar between entries', gzipSync(tarBytes(GOOD, Buffer.alloc(0)))],
    ['ARCHIVE_TRUNCATED', 'zip', zip.subarray(0, zip.length - 30)],
    ['ARCHIVE_ENCRYPTED', 'encrypted', zipWith({ name: 'a', flags: 1 })],
    ['NOT_AN_ARCHIVE', 'text', Buffer.from('#!/bin/sh\n')],
    ['NOT_AN_ARCHIVE', 'nothing', Buffer.alloc(0)],
    ['NOT_AN_ARCHIVE', 'plain tar', tarBytes(GOOD)],
    ['NOT_AN_ARCHIVE', 'gzip of text', gzipSync(Buffer.alloc(2_000, 'x'))],
    ['NOT_AN_ARCHIVE', 'damaged gzip', Buffer.concat([good.subarray(0, 30), random])],
    ['NOT_AN_ARCHIVE', 'checksum of a zip', zipWith({ name: 'a', content: 'x', crc: 5 })],
    ['NOT_AN_ARCHIVE', 'method of a zip', zipWith({ name: 'a', content: 'x', method: 99 })],
    ['NOT_AN_ARCHIVE', 'lying size in a zip', zipWith({ name: 'a', content: random, size: 10 })],
    ['MANIFEST_MISSING', 'no manifest', tarGz([MAIN])],
    [
      'MANIFEST_MISSING',
      'not at the top',
      tarGz([MAIN, { ...MANIFEST, name: 'x/longshore.json' }]),
    ],
    ['MANIFEST_MISSING', 'empty zip', zipBytes([])],
    ['MANIFEST_INVALID', 'not JSON', tarGz([MAIN, { ...MANIFEST, content: '{' }])],
    ['MANIFEST_INVALID', 'no such module', tarGz([MANIFEST])],
    ['MANIFEST_INVALID', 'huge manifest', tarGz([{ ...MANIFEST, content: big }])],
  ])('%s: %s', async (code, _, bytes, limits) => expect(await refusal(bytes, limits)).toBe(code));
});

describe('a damaged archive', () => {
  const plainTar = tarBytes([...GOOD, pax({ path: 'long' }), { name: 'a', content: random }]);
  const archives: [string, (damage: (bytes: Buffer) => Buffer) => Buffer][] = [
    ['zip', (damage) => damage(zipWith({ name: 'a', content: random }))],
    ['gzip', (damage) => damage(gzipSync(plainTar))],
    ['tar in a gzip', (damage) => gzipSync(damage(plainTar))],
  ];
  const place = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  const change = fc.record({ at: place, to: place, kind: fc.nat(3), byte: fc.nat(255) });
  it.each(archives)('as %s is read or refused, and never more', async (_, made) => {
    const { file } = await stored(Buffer.alloc(0));
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
        await writeFile(
          file,
          made((bytes) => changes.reduce(changed, bytes)),
        );
        const reading = inspectArchive(file).catch((error: unknown) => {
          expect(error).toBeInstanceOf(ArtifactError);
        });
        await reading;
      }),
      { numRuns: 150 },
    );
  });

  type Change = { at: number; to: number; kind: number; byte: number };
  function changed(bytes: Buffer, { at, to, kind, byte }: Change): Buffer {
    const [from, other] = [Math.floor(at * bytes.length), Math.floor(to * bytes.length)];
    const head = bytes.subarray(0, from);
    if (kind === 0) return head;
    if (kind === 1) return Buffer.concat([head, bytes.subarray(other)]);
    const tail = bytes.subarray(kind === 2 ? from : from + 1);
    return Buffer.concat([head, Buffer.from([byte]), tail]);
  }
});
