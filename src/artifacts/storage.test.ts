import { createHash } from 'node:crypto';
import { readdir, truncate, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from 'vitest';
import {
  ACCESS_KEY,
  BUCKET,
  SECRET_KEY,
  type S3Fault,
  type S3Server,
  startS3Server,
} from '../../test/support/artifacts/s3-server.ts';
import { scratch } from '../../test/support/artifacts/scratch.ts';
import { FileStorage } from './file-storage.ts';
import { openStorage } from './open-storage.ts';
import type { S3Options } from './s3-storage.ts';
import { parseStorageAddress } from './storage-address.ts';
import type { ArtifactStorage, OpenedStorage } from './storage.ts';

const CONTENT = Buffer.from(Array.from({ length: 300_000 }, (_, at) => (at * at * 17) % 253));
const HASH = createHash('sha256').update(CONTENT).digest('hex');
const OTHER = 'ab'.repeat(32);

async function* pieces(content = CONTENT): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < content.length; at += 70_000) yield content.subarray(at, at + 70_000);
}

async function read(storage: ArtifactStorage, sha256 = HASH): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of await storage.get(sha256)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const refusedAs = async (code: string, work: Promise<unknown>) =>
  await expect(work).rejects.toMatchObject({ code });

let s3: S3Server;
beforeAll(async () => {
  s3 = await startS3Server();
});
afterAll(async () => await s3.stop());
beforeEach(() => void s3.faults.splice(0));

const RIGHT = { credentials: { accessKeyId: ACCESS_KEY, secretAccessKey: SECRET_KEY } };
let prefixes = 0;
/** A prefix for each test, unless it opens the same one twice. */
const newPrefix = () => {
  prefixes += 1;
  return `a/${prefixes}`;
};
async function openS3(options: S3Options = {}, prefix = newPrefix()): Promise<OpenedStorage> {
  const address = `s3://${BUCKET}/${prefix}?endpoint=${s3.endpoint}&region=eu-central-1`;
  return await openStorage(address, {
    ...RIGHT,
    attempts: 1,
    ...options,
  });
}

describe.each([
  ['files', async () => new FileStorage(join(await scratch(), 'deep/store'))],
  ['S3', async () => await openS3()],
])('storage in %s', (_, open: () => Promise<OpenedStorage>) => {
  it('keeps bytes by their hash', async () => {
    const storage = await open();
    expect(await storage.head(HASH)).toBeNull();
    await storage.put(HASH, CONTENT.length, pieces());
    expect(await storage.head(HASH)).toEqual({ bytes: CONTENT.length });
    expect((await read(storage)).equals(CONTENT)).toBe(true);
    // Again, as when two deploy the same.
    await storage.put(HASH, CONTENT.length, pieces());
    expect((await read(storage)).equals(CONTENT)).toBe(true);
    await storage.delete(HASH);
    await storage.delete(HASH);
    expect(await storage.head(HASH)).toBeNull();
    await refusedAs('ARTIFACT_MISSING', read(storage));
    storage.close();
  });

  it('refuses what is not the content, and keeps nothing of it', async () => {
    const storage = await open();
    await refusedAs('ARTIFACT_CORRUPT', storage.put(OTHER, CONTENT.length, pieces()));
    expect(await storage.head(OTHER)).toBeNull();
    const short = CONTENT.subarray(0, 100);
    await refusedAs('ARTIFACT_CORRUPT', storage.put(HASH, CONTENT.length, pieces(short)));
    await refusedAs('ARTIFACT_CORRUPT', storage.put(HASH, 100, pieces()));
    expect(await storage.head(HASH)).toBeNull();
    storage.close();
  });

  it('keeps and lists reports by their names, which end in the hash', async () => {
    const storage = await open();
    const names = ['acme.2030-01-08', 'acme.2030-01-09', 'rival.2030-01-08'].map(
      (scope) => `${scope}.${HASH}`,
    );
    for (const name of [...names, HASH]) await storage.put(name, CONTENT.length, pieces());
    const found: string[] = [];
    for await (const name of storage.reports()) found.push(name);
    expect(found.sort()).toEqual(names);
    const [first = ''] = names;
    expect((await read(storage, first)).equals(CONTENT)).toBe(true);
    await storage.delete(first);
    expect(await storage.head(first)).toBeNull();
    const wrong = storage.put(`acme.2030-01-08.${OTHER}`, CONTENT.length, pieces());
    await refusedAs('ARTIFACT_CORRUPT', wrong);
    storage.close();
  });

  it('passes a failure of the source on, and keeps nothing', async () => {
    const storage = await open();
    const broken = async function* (): AsyncGenerator<Uint8Array> {
      yield CONTENT.subarray(0, 100_000);
      throw new Error('the uploader is gone');
    };
    await expect(storage.put(HASH, CONTENT.length, broken())).rejects.toThrow('uploader is gone');
    expect(await storage.head(HASH)).toBeNull();
    storage.close();
  });

  it.each(['', '../x', 'AB'.repeat(32), `${HASH}/x`])('has no artifact named %j', async (name) => {
    const storage = await open();
    await expect(storage.head(name)).rejects.toThrow('named by its SHA-256');
    await expect(storage.get(name)).rejects.toThrow('named by its SHA-256');
    storage.close();
  });
});

describe('files', () => {
  it('that are damaged are not read', async () => {
    const folder = await scratch();
    const storage = new FileStorage(folder);
    await storage.put(HASH, CONTENT.length, pieces());
    await truncate(join(folder, HASH), 1_000);
    await refusedAs('ARTIFACT_CORRUPT', read(storage));
    await writeFile(join(folder, HASH), Buffer.alloc(CONTENT.length));
    await refusedAs('ARTIFACT_CORRUPT', read(storage));
  });

  it('that a killed process left are removed after a day', async () => {
    const folder = await scratch();
    const storage = new FileStorage(folder);
    await writeFile(join(folder, '.old.tmp'), 'x');
    await utimes(join(folder, '.old.tmp'), 1, 1);
    await writeFile(join(folder, '.new.tmp'), 'x');
    await storage.put(HASH, CONTENT.length, pieces());
    expect((await readdir(folder)).sort()).toEqual(['.new.tmp', HASH].sort());
    expect(await storage.list()).toEqual([HASH]);
  });

  it('in a folder that cannot be used are unavailable', async () => {
    const folder = await scratch();
    await writeFile(join(folder, 'file'), 'x');
    const storage = new FileStorage(join(folder, 'file', 'store'));
    await refusedAs('STORAGE_UNAVAILABLE', storage.put(HASH, CONTENT.length, pieces()));
    await refusedAs('STORAGE_UNAVAILABLE', storage.head(HASH));
  });
});

describe('S3 that fails', () => {
  it.each<[S3Fault, string]>([
    ['truncate', 'STORAGE_UNAVAILABLE'],
    ['close', 'STORAGE_UNAVAILABLE'],
    ['stall', 'STORAGE_UNAVAILABLE'],
    ['hang', 'STORAGE_UNAVAILABLE'],
    [500, 'STORAGE_UNAVAILABLE'],
    [503, 'STORAGE_UNAVAILABLE'],
    ['shorten', 'ARTIFACT_CORRUPT'],
    ['corrupt', 'ARTIFACT_CORRUPT'],
  ])('by %s gives a reader %s, and the right bytes later', async (fault, code) => {
    const prefix = newPrefix();
    const storage = await openS3({}, prefix);
    // Only what never ends is given up soon: a slow machine must not look like a fault.
    const idleMs = fault === 'stall' || fault === 'hang' ? 1_000 : 60_000;
    const reader = await openS3({ idleMs }, prefix);
    await storage.put(HASH, CONTENT.length, pieces());
    s3.faults.push(fault);
    await refusedAs(code, read(reader));
    expect((await read(storage)).equals(CONTENT)).toBe(true);
    for (const one of [storage, reader]) one.close();
  });

  it.each<S3Fault>(['close', 'hang', 500, 503, 'corrupt-request'])(
    'by %s keeps nothing that a writer sent',
    async (fault) => {
      const prefix = newPrefix();
      const storage = await openS3({}, prefix);
      const writer = await openS3({ idleMs: fault === 'hang' ? 1_000 : 60_000 }, prefix);
      s3.faults.push(fault);
      await refusedAs('STORAGE_UNAVAILABLE', writer.put(HASH, CONTENT.length, pieces()));
      expect(await storage.head(HASH)).toBeNull();
      for (const one of [storage, writer]) one.close();
    },
  );

  it('by slowness alone does not fail', async () => {
    const storage = await openS3({ idleMs: 10_000 });
    await storage.put(HASH, CONTENT.length, pieces());
    s3.faults.push('slow');
    expect((await read(storage)).equals(CONTENT)).toBe(true);
    storage.close();
  });

  it('for a moment is asked again', async () => {
    const storage = await openS3({ attempts: 3 });
    await storage.put(HASH, CONTENT.length, pieces());
    s3.faults.push(503, 'close');
    expect(await storage.head(HASH)).toEqual({ bytes: CONTENT.length });
    s3.faults.push(500);
    expect((await read(storage)).equals(CONTENT)).toBe(true);
    storage.close();
  });

  it('is unavailable when it is down, and when the bucket or the secret is wrong', async () => {
    const down = await openStorage(`s3://${BUCKET}?endpoint=http://127.0.0.1:1`, {
      ...RIGHT,
      attempts: 1,
    });
    await refusedAs('STORAGE_UNAVAILABLE', down.head(HASH));
    await refusedAs('STORAGE_UNAVAILABLE', read(down));
    const credentials = { accessKeyId: ACCESS_KEY, secretAccessKey: 'wrong' };
    const forged = await openS3({ credentials });
    await refusedAs('STORAGE_UNAVAILABLE', forged.put(HASH, CONTENT.length, pieces()));
    await refusedAs('STORAGE_UNAVAILABLE', read(forged));
    await refusedAs('STORAGE_UNAVAILABLE', forged.delete(HASH));
    const nowhere = await openStorage(`s3://no-such-bucket?endpoint=${s3.endpoint}`, RIGHT);
    await refusedAs('STORAGE_UNAVAILABLE', read(nowhere));
    for (const storage of [down, forged, nowhere]) storage.close();
  });

  it('stops when its reader does', async () => {
    const storage = await openS3();
    await storage.put(HASH, CONTENT.length, pieces());
    const stop = new AbortController();
    const chunks = await storage.get(HASH, stop.signal);
    stop.abort(new Error('enough'));
    const reading = (async () => {
      for await (const chunk of chunks) expect(chunk.length).toBeGreaterThan(0);
    })();
    await expect(reading).rejects.toThrow();
    storage.close();
  });

  it('needs its package', async () => {
    const load = () => Promise.reject(new Error('not installed'));
    const opening = openStorage(`s3://bucket?endpoint=${s3.endpoint}`, { load });
    await expect(opening).rejects.toThrow('npm install @aws-sdk/client-s3');
  });
});

test.each([
  ['s3://bucket', { bucket: 'bucket', prefix: '', endpoint: null, pathStyle: false, region: null }],
  ['s3://bucket/a//b/?region=x', { prefix: 'a/b/', region: 'x' }],
  ['s3://bucket?endpoint=http://h:9000', { endpoint: 'http://h:9000', pathStyle: true }],
  ['s3://bucket?endpoint=http://h&pathStyle=false', { pathStyle: false }],
  ['/var/lib/a', { kind: 'file', folder: '/var/lib/a' }],
  ['file:///var/lib/a%20b', { kind: 'file', folder: '/var/lib/a b' }],
])('the address %s', (address, place) => {
  expect(parseStorageAddress(address)).toMatchObject(place);
});

test.each([
  ['s3://bucket?regin=x', 'did you mean "region"?'],
  ['s3://key:secret@bucket', 'must not contain credentials'],
  ['s3://B', 'is no name of a bucket'],
  ['s3://bucket?endpoint=h:9000', 'endpoint must be a URL'],
  ['s3://bucket?pathStyle=yes', 'pathStyle must be true or false'],
  ['gs://bucket', 'a storage of artifacts is s3://'],
])('the address %s is refused', (address, words) => {
  expect(() => parseStorageAddress(address)).toThrow(words);
});
