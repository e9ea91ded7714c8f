import { createHash, randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { openStorage } from '../../artifacts/open-storage.ts';
import type { S3Options } from '../../artifacts/s3-storage.ts';
import { trustedKey } from '../../artifacts/signature.ts';
import { parseStorageAddress } from '../../artifacts/storage-address.ts';
import type { ArtifactStorage } from '../../artifacts/storage.ts';
import type { SigningFacts, StorageFacts } from '../artifacts.ts';
import { inspectFolder } from './folder.ts';
import { troubleOf } from './trouble.ts';

const IDLE_MS = 5_000;

/** Writes, reads and deletes a small object. A folder that does not exist is not created. */
export async function inspectStorage(
  address: string,
  options: S3Options = {},
): Promise<StorageFacts> {
  const fails = (step: 'open' | 'write' | 'read' | 'delete', where: string) => (error: unknown) =>
    ({ state: 'fails', where, step, reason: troubleOf(error).reason }) as const;
  let storage: ArtifactStorage;
  try {
    const place = parseStorageAddress(address);
    if (place.kind === 'file' && !(await exists(place.folder))) {
      const { trouble } = await inspectFolder(place.folder);
      if (trouble !== null) return fails('write', place.folder)(new Error(trouble));
      return { state: 'new', where: place.folder };
    }
    storage = await openStorage(address, { idleMs: IDLE_MS, attempts: 1, ...options });
  } catch (error) {
    // An address with credentials is refused, and must not be printed.
    return fails('open', 'the storage of deployed code')(error);
  }
  try {
    return await roundTrip(storage, fails);
  } finally {
    storage.close();
  }
}

async function roundTrip(
  storage: ArtifactStorage,
  fails: (step: 'write' | 'read' | 'delete', where: string) => (error: unknown) => StorageFacts,
): Promise<StorageFacts> {
  const { address: where } = storage;
  const content = Buffer.from(`longshore doctor ${randomUUID()}`);
  const sha256 = createHash('sha256').update(content).digest('hex');
  const steps = {
    write: async () => await storage.put(sha256, content.length, once(content)),
    read: async () => {
      for await (const _ of await storage.get(sha256));
    },
    delete: async () => await storage.delete(sha256),
  };
  for (const step of ['write', 'read', 'delete'] as const) {
    try {
      await steps[step]();
    } catch (error) {
      if (step === 'read') await storage.delete(sha256).catch(() => undefined);
      return fails(step, where)(error);
    }
  }
  return { state: 'works', where };
}

async function* once(content: Uint8Array): AsyncGenerator<Uint8Array> {
  yield content;
}

async function exists(folder: string): Promise<boolean> {
  return await stat(folder).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT',
  );
}

export function inspectSigning(artifactKeys: string | null): SigningFacts {
  if (artifactKeys === null) return { state: 'none' };
  try {
    return { state: 'keys', keyIds: artifactKeys.split(',').map((key) => trustedKey(key).keyId) };
  } catch (error) {
    return { state: 'wrong', reason: troubleOf(error).reason };
  }
}
