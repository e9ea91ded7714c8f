import type { OpenedStorage } from '../artifacts/storage.ts';
import { isOutdated } from '../core/report/report-name.ts';
import { Refusal } from '../protocol/refusal.ts';
import type { Clock } from '../runtime/clock.ts';
import { judgeLink, type LinkParts } from './report-link.ts';

/** The reports of jobs (`longshore/batteries`), which links of theirs download. */
export class StoredReports {
  readonly #storage: OpenedStorage;
  readonly #secret: string | null;
  readonly #clock: Clock;

  constructor(storage: OpenedStorage, secret: string | null, clock: Clock) {
    this.#storage = storage;
    this.#secret = secret;
    this.#clock = clock;
  }

  async read(
    parts: LinkParts,
    signature: string,
    signal: AbortSignal,
  ): Promise<{ bytes: number; chunks: AsyncIterable<Uint8Array> }> {
    if (this.#secret === null) {
      throw new Refusal('NOT_FOUND', 'this server has no LONGSHORE_REPORT_SECRET to check links');
    }
    const verdict = judgeLink(parts, signature, this.#secret, this.#clock.now());
    if (verdict === 'forged') throw new Refusal('FORBIDDEN', 'the signature of the link is wrong');
    if (verdict === 'expired') throw new Refusal('LINK_EXPIRED', 'the link to the report expired');
    const found = await this.#storage.head(parts.name);
    if (!found) throw new Refusal('NOT_FOUND', 'the report was deleted');
    return { ...found, chunks: await this.#storage.get(parts.name, signal) };
  }

  /** Deletes the reports whose last day is over. Answers with their number. */
  async deleteOutdated(signal: AbortSignal): Promise<number> {
    const now = this.#clock.now();
    let deleted = 0;
    for await (const name of this.#storage.reports()) {
      if (signal.aborted) break;
      if (!isOutdated(name, now)) continue;
      await this.#storage.delete(name);
      deleted += 1;
    }
    return deleted;
  }

  close(): void {
    this.#storage.close();
  }
}
