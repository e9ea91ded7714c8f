import { createHash } from 'node:crypto';
import { ArtifactError } from '../core/artifact/artifact-error.ts';
import { isLargeName } from '../core/large/large-value.ts';
import { isReportName } from '../core/report/report-name.ts';

/**
 * Where archives are stored, by the SHA-256 of their bytes, and reports and large values, by names that
 * end in it (`core/report/report-name.ts`, `core/large/large-value.ts`). Content never changes, so a second put of the same is allowed and
 * changes nothing. Errors are `ArtifactError`: STORAGE_UNAVAILABLE (try
 * again later), ARTIFACT_MISSING and ARTIFACT_CORRUPT.
 */
export interface ArtifactStorage {
  /** Stores the bytes; refuses those with another hash or size. */
  put(name: string, bytes: number, source: AsyncIterable<Uint8Array>): Promise<void>;
  /**
   * The bytes. The last chunk comes only after the hash of all is right, so a reader that sees the
   * end has the right bytes.
   */
  get(name: string, signal?: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
  /** The size; null: the storage does not have it. */
  head(name: string): Promise<{ bytes: number } | null>;
  /** Does nothing when there is no such artifact. */
  delete(name: string): Promise<void>;
  /** For messages: where it is, without credentials. */
  readonly address: string;
  close(): void;
}

/** The storage at an address. */
export interface OpenedStorage extends ArtifactStorage {
  /** The names of all reports. */
  reports(): AsyncIterable<string>;
}

export const SHA256 = /^[0-9a-f]{64}$/;

/** Names become paths, so nothing but a hash may be one. */
export function requireSha256(sha256: string): void {
  if (!SHA256.test(sha256)) throw new TypeError('an artifact is named by its SHA-256 in hex');
}

/** The hash in the name of an archive, a report or a large value. */
export function hashIn(name: string): string {
  const sha256 = isReportName(name) || isLargeName(name) ? name.slice(-64) : name;
  requireSha256(sha256);
  return sha256;
}

export function missing(name: string, address: string): ArtifactError {
  return new ArtifactError('ARTIFACT_MISSING', `${address} does not have the artifact ${name}`);
}

export function unavailable(address: string, cause: unknown): ArtifactError {
  const why = cause instanceof Error ? cause.message || cause.name : String(cause);
  return new ArtifactError('STORAGE_UNAVAILABLE', `the storage ${address} fails: ${why}`, {
    cause,
  });
}

/**
 * Passes the bytes on and compares their hash, and their size if it is known. It holds one chunk
 * back until the comparison, so that wrong content never looks complete.
 */
export async function* verified(
  source: AsyncIterable<Uint8Array>,
  sha256: string,
  bytes: number | null = null,
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  let size = 0;
  let held: Uint8Array | null = null;
  for await (const chunk of source) {
    hash.update(chunk);
    size += chunk.length;
    if (bytes !== null && size > bytes) break;
    if (held) yield held;
    held = chunk;
  }
  const actual = hash.digest('hex');
  if ((bytes !== null && size !== bytes) || actual !== sha256) {
    throw new ArtifactError(
      'ARTIFACT_CORRUPT',
      `the content of the artifact ${sha256} is wrong: ${size} bytes with the hash ${actual}`,
    );
  }
  if (held) yield held;
}
