import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ArtifactCache } from '../artifacts/cache.ts';
import type { Signature } from '../artifacts/signature.ts';
import type { ServedDeployment } from '../store/deployments/served.ts';
import type { CodeSettings } from './local-deployments.ts';

const CACHE_BYTES_MAX = 4 * 1024 ** 3;

type Fetch = (signal: AbortSignal) => Promise<AsyncIterable<Uint8Array>>;

/** The unpacked code of a worker. Its packages are loaded with the first deployment. */
export class CodeCache {
  readonly #settings: CodeSettings;
  #opened: Promise<ArtifactCache> | undefined;

  constructor(settings: CodeSettings) {
    this.#settings = settings;
  }

  /** Fetches, checks and unpacks the code, unless it is there already. */
  async take(
    { sha256, tenant, signature }: ServedDeployment,
    fetch: Fetch,
  ): Promise<{ folder: string; release(): Promise<void> }> {
    this.#opened ??= this.#open().catch((error: unknown) => {
      this.#opened = undefined;
      throw error;
    });
    const cache = await this.#opened;
    const held = await cache.take(sha256, fetch, { scope: tenant });
    try {
      const canonical = held.manifest?.canonical ?? '';
      await this.#verify({ sha256, canonical }, signature as Signature | null);
    } catch (error) {
      await held.release();
      throw error;
    }
    return held;
  }

  async close(): Promise<void> {
    const cache = await this.#opened?.catch(() => undefined);
    await cache?.close();
  }

  async #open(): Promise<ArtifactCache> {
    const { ArtifactCache: Cache } = await import('../artifacts/cache.ts');
    const folder = cacheFolder(this.#settings);
    return await Cache.open({ folder, bytesMax: CACHE_BYTES_MAX });
  }

  /** With trusted keys, code must be signed by one of them. */
  async #verify(
    content: { sha256: string; canonical: string },
    signature: Signature | null,
  ): Promise<void> {
    const { artifactKeys = null } = this.#settings;
    if (artifactKeys === null) return;
    const { trustedKey, verifyContent } = await import('../artifacts/signature.ts');
    verifyContent(content, signature, artifactKeys.split(',').map(trustedKey));
  }
}

/** Jobs run as other users and must reach it, so it is not below the data folder. */
function cacheFolder({ artifactCache }: CodeSettings): string {
  return artifactCache ?? join(tmpdir(), `longshore-code-${process.getuid?.() ?? 'user'}`);
}
