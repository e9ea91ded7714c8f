import { createHash } from 'node:crypto';
import type { ArtifactStorage } from '../artifacts/storage.ts';
import { CannotOpen } from '../core/access/sealed.ts';
import { ArtifactError } from '../core/artifact/artifact-error.ts';
import {
  INLINE_MAX_BYTES,
  largeName,
  type LargeKind,
  type LargeRef,
  largeRefOf,
  largeText,
  LargeValueLost,
  mayHoldLarge,
} from '../core/large/large-value.ts';
import { isRecord } from '../core/values/record.ts';
import type { Db } from '../store/connection/db.ts';
import { noteLargeValue } from '../store/large/large-values.ts';

/**
 * Params and results that are too large for the database, in the storage of artifacts. They are sealed
 * like all others, and bound to their tenant, job and kind. Without a limit nothing is written, but what
 * was written before is read.
 */
export class LargeValues {
  /** The most bytes of a value; null: large values are off. */
  readonly maxBytes: number | null;
  readonly #db: Db;
  readonly #storage: ArtifactStorage;

  constructor(db: Db, storage: ArtifactStorage, maxBytes: number | null) {
    this.#db = db;
    this.#storage = storage;
    this.maxBytes = maxBytes;
  }

  /** How many bytes a value of this kind may have. */
  limit(kind: LargeKind): number {
    return Math.max(INLINE_MAX_BYTES[kind], this.maxBytes ?? 0);
  }

  /** Whether a value must be stored here. Short texts are not measured. */
  needs(kind: LargeKind, json: string): boolean {
    const max = INLINE_MAX_BYTES[kind];
    return json.length * 3 > max && Buffer.byteLength(json) > max;
  }

  /**
   * Writes a value; returns the reference, for the row of its job. The value is durable then. Throws an
   * `ArtifactError` when the storage fails.
   */
  async put(tenant: string, jobId: string, kind: LargeKind, json: string): Promise<string> {
    const { vault } = this.#db;
    const stored = vault.sealBytes(tenant, json, useOf(jobId, kind));
    const sha256 = createHash('sha256').update(stored).digest('hex');
    const name = largeName({ tenant, jobId, kind }, sha256);
    const bytes = Buffer.byteLength(json);
    await noteLargeValue(this.#db, { jobId, name, tenant, kind, bytes, keyId: vault.keyId });
    await this.#storage.put(name, stored.length, once(stored));
    return largeText({ name, bytes });
  }

  /**
   * The JSON text of a value. Throws `LargeValueLost` when it is missing or wrong, `CannotOpen` when its
   * key is missing, and an `ArtifactError` when the storage fails.
   */
  async get(tenant: string, { name, jobId, kind, tenant: owner }: LargeRef): Promise<string> {
    if (owner !== tenant) throw new CannotOpen('the large value belongs to another tenant');
    return this.#db.vault.openBytes(tenant, await this.#read(name), useOf(jobId, kind));
  }

  /** A stored value with all large values in it. Throws like `get`. */
  async open(tenant: string, json: string): Promise<string> {
    const { vault } = this.#db;
    if (!mayHoldLarge(json)) return vault.open(tenant, json);
    const value = JSON.parse(json) as unknown;
    const whole = largeRefOf(value);
    if (whole) return await this.get(tenant, whole);
    if (!isRecord(value)) return vault.open(tenant, json);
    const fields = await Promise.all(
      Object.entries(value).map(async ([key, field]) => {
        const ref = largeRefOf(field);
        const text = ref ? await this.get(tenant, ref) : vault.open(tenant, JSON.stringify(field));
        return `${JSON.stringify(key)}:${text}`;
      }),
    );
    return `{${fields.join(',')}}`;
  }

  async #read(name: string): Promise<Buffer> {
    const chunks: Uint8Array[] = [];
    try {
      for await (const chunk of await this.#storage.get(name)) chunks.push(chunk);
    } catch (error) {
      if (!(error instanceof ArtifactError) || error.code === 'STORAGE_UNAVAILABLE') throw error;
      throw new LargeValueLost(error.message, { cause: error });
    }
    return Buffer.concat(chunks);
  }
}

function useOf(jobId: string, kind: LargeKind): `large ${string}` {
  return `large ${jobId} ${kind}`;
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
