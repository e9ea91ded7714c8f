import { rejectedSignal } from '../../core/job/signal.ts';
import { TogetherPerKey } from '../../runtime/together.ts';
import { saveStep, saveSteps, type StepWrite } from '../../store/attempt/steps.ts';
import type { Db } from '../../store/connection/db.ts';
import { inHalves } from '../../store/connection/in-halves.ts';
import { withPartitions } from '../../store/connection/partitions.ts';

/** The most of one statement. */
const MOST = 50;
/** A longer value is stored alone, so that a statement stays small. */
const SHARED_MAX_LENGTH = 32_768;

type Saved = { mine: boolean } | { error: unknown };

/** Stores steps and checkpoints; those of jobs that run at the same time share a statement. */
export class StepSaves {
  readonly #db: Db;
  readonly #ofShard: TogetherPerKey<number, StepWrite, Saved>;

  constructor(db: Db) {
    this.#db = db;
    this.#ofShard = new TogetherPerKey(
      MOST,
      async (shard, steps) => await this.#saveAll(shard, steps),
    );
  }

  /** False when this claim no longer owns the job; then nothing was stored. */
  async save(shard: number, step: StepWrite): Promise<boolean> {
    const { name, valueJson } = step;
    const discards = name !== null && rejectedSignal(name) !== null;
    if (discards || valueJson.length > SHARED_MAX_LENGTH) {
      return await withPartitions(this.#db, async () => await saveStep(this.#db, shard, step));
    }
    const saved = await this.#ofShard.ask(shard, step);
    if ('error' in saved) throw saved.error;
    return saved.mine;
  }

  /** A value that the database refuses does not keep the others from being stored. */
  async #saveAll(shard: number, steps: readonly StepWrite[]): Promise<Saved[]> {
    const db = this.#db;
    const results = new Map<StepWrite, Saved>();
    await inHalves(
      steps,
      async (part) => {
        const mine = await withPartitions(db, async () => await saveSteps(db, shard, part));
        for (const [index, step] of part.entries()) {
          results.set(step, { mine: mine[index] ?? false });
        }
      },
      (step, error) => void results.set(step, { error }),
    );
    return steps.map((step) => results.get(step) ?? { error: new Error('it was not stored') });
  }
}
