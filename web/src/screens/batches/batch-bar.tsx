import type { BatchCounts } from '../../../../src/core/batch/batch.ts';
import { barParts, countWords } from '../../words/batches/batch-words.ts';

/** How many jobs of a batch are in which state, as a bar and in words. */
export function BatchBar({ counts }: { counts: BatchCounts }) {
  return (
    <div className="batch-progress">
      <div className="batch-bar" aria-hidden="true">
        {barParts(counts).map(({ state, percent }) => (
          <span key={state} className={`batch-${state}`} style={{ width: `${percent}%` }} />
        ))}
      </div>
      <p>{countWords(counts)}</p>
    </div>
  );
}
