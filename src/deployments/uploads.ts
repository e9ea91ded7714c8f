import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { receiveArchive } from '../artifacts/receive.ts';
import type { Signature } from '../artifacts/signature.ts';
import type { ArtifactStorage } from '../artifacts/storage.ts';
import { ArtifactError } from '../core/artifact/artifact-error.ts';
import type { Actor } from '../store/access/audit.ts';
import type { Db } from '../store/connection/db.ts';
import { addArtifact, type Artifact } from '../store/deployments/artifacts.ts';

/** What a caller says about its archive. */
export interface UploadClaims {
  /** The SHA-256; another content is refused. */
  expected: string | null;
  signature: Signature | null;
}

/** Takes archives: checks them, stores them by their content, and gives them out again. */
export class Uploads {
  readonly #db: Db;
  readonly #storage: ArtifactStorage;

  /** Public keys; if there are any, only archives signed by one of them are taken. */
  readonly #trusted: readonly string[];

  constructor(db: Db, storage: ArtifactStorage, trusted: readonly string[] = []) {
    this.#db = db;
    this.#storage = storage;
    this.#trusted = trusted;
  }

  /** Throws an `ArtifactError` for an archive that is refused; nothing is stored then. */
  async add(
    tenant: string,
    by: Actor,
    body: Readable,
    { expected, signature }: UploadClaims,
  ): Promise<{ artifact: Artifact; created: boolean }> {
    const folder = await mkdtemp(join(tmpdir(), 'longshore-upload-'));
    try {
      const file = join(folder, 'archive');
      const { sha256, bytes } = await receiveArchive(body, file);
      if (expected !== null && expected !== sha256) {
        throw new ArtifactError('ARTIFACT_CORRUPT', `the content has the hash ${sha256}`);
      }
      const { inspectArchive } = await import('../artifacts/read-archive.ts');
      const { format, manifest } = await inspectArchive(file, { manifest: 'optional' });
      await this.#verify({ sha256, canonical: manifest?.canonical ?? '' }, signature);
      if ((await this.#storage.head(sha256)) === null) {
        await this.#storage.put(sha256, bytes, createReadStream(file));
      }
      const json = manifest && (JSON.parse(manifest.canonical) as unknown);
      const added = { sha256, format, bytes, manifest: json, signature };
      return await addArtifact(this.#db, tenant, by, added);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  async #verify(
    content: { sha256: string; canonical: string },
    signature: Signature | null,
  ): Promise<void> {
    if (this.#trusted.length === 0) return;
    const { trustedKey, verifyContent } = await import('../artifacts/signature.ts');
    verifyContent(content, signature, this.#trusted.map(trustedKey));
  }

  async content(sha256: string): Promise<Readable> {
    return Readable.from(await this.#storage.get(sha256), { objectMode: false });
  }
}
