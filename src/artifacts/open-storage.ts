import { FileStorage } from './file-storage.ts';
import type { S3Options } from './s3-storage.ts';
import { parseStorageAddress } from './storage-address.ts';
import type { OpenedStorage } from './storage.ts';

/** Opens the storage at an address. It does not connect, because the storage may be down. */
export async function openStorage(
  address: string,
  options: S3Options = {},
): Promise<OpenedStorage> {
  const place = parseStorageAddress(address);
  if (place.kind === 'file') return new FileStorage(place.folder);
  const { S3Storage } = await import('./s3-storage.ts');
  return await S3Storage.open(place, options);
}
