import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  ACCESS_KEY,
  BUCKET,
  type S3Server,
  SECRET_KEY,
  startS3Server,
} from '../../../test/support/artifacts/s3-server.ts';
import { quickFolder } from '../../../test/support/quick-folder.ts';
import { createSigningKey } from '../../artifacts/signature.ts';
import { inspectSigning, inspectStorage } from './artifacts.ts';

let s3: S3Server;
let folder: string;

beforeAll(async () => {
  s3 = await startS3Server();
  folder = await quickFolder('longshore-doctor-artifacts-');
});
afterAll(async () => {
  await s3.stop();
  await rm(folder, { recursive: true, force: true });
});

const credentials = { accessKeyId: ACCESS_KEY, secretAccessKey: SECRET_KEY };

it('writes, reads and deletes in a folder, and creates none', async () => {
  const path = join(folder, 'none/artifacts');
  expect(await inspectStorage(path)).toEqual({ state: 'new', where: path });
  expect(await readdir(folder)).toEqual([]);
  await mkdir(path, { recursive: true });
  expect(await inspectStorage(path)).toMatchObject({ state: 'works' });
  expect(
    (await readdir(path, { recursive: true, withFileTypes: true })).filter((one) => one.isFile()),
  ).toEqual([]);
});

it('names the place and the cause', async () => {
  const path = join(folder, 'a-file');
  await writeFile(path, '');
  expect(await inspectStorage(path)).toMatchObject({
    state: 'fails',
    where: expect.stringContaining(path) as string,
    step: 'write',
    reason: expect.stringMatching(/ENOTDIR|EEXIST/) as string,
  });
});

it('writes, reads and deletes in S3, and says what fails there', async () => {
  const at = `s3://${BUCKET}/code?endpoint=${s3.endpoint}&region=eu-central-1`;
  expect(await inspectStorage(at, { credentials })).toEqual({
    state: 'works',
    where: `s3://${BUCKET}/code/`,
  });
  const wrong = { ...credentials, secretAccessKey: 'wrong' };
  expect(await inspectStorage(at, { credentials: wrong })).toMatchObject({
    state: 'fails',
    step: 'write',
  });
  const nowhere = `s3://${BUCKET}?endpoint=http://127.0.0.1:9&region=eu-central-1`;
  expect(await inspectStorage(nowhere, { credentials })).toMatchObject({
    state: 'fails',
    step: 'write',
    reason: expect.stringContaining('ECONNREFUSED') as string,
  });
  const secret = await inspectStorage('s3://key:secret@bucket');
  expect(secret).toMatchObject({ state: 'fails', step: 'open' });
  expect(JSON.stringify(secret)).not.toContain('key:secret');
});

it('names the keys of signatures, and one that is wrong', () => {
  const { keyId, publicKey } = createSigningKey();
  expect(inspectSigning(null)).toEqual({ state: 'none' });
  expect(inspectSigning(publicKey)).toEqual({ state: 'keys', keyIds: [keyId] });
  expect(inspectSigning(`${publicKey},ed25519:short`)).toMatchObject({ state: 'wrong' });
});
