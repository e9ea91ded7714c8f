import type { BatchView } from '../../../../src/core/batch/batch.ts';
import { call } from '../../api/call.ts';
import { useAsked, useChange } from '../../api/use-change.ts';
import { useMay } from '../../api/use-may.ts';
import { AskButton } from '../../parts/ask.tsx';
import { Icon } from '../../parts/icon.tsx';
import { cancelBatchWords, mayCancelBatch, retryLabel } from '../../words/batches/batch-words.ts';

/** Close, retry and cancel, for those who may change jobs. */
export function BatchActions({ batch }: { batch: BatchView }) {
  const post = async (verb: string) =>
    await call<BatchView>('POST', `/v1/batches/${batch.id}/${verb}`);
  const close = useChange(
    async () => await post('close'),
    () => 'Batch closed.',
  );
  const retry = useChange(
    async () => await post('retry'),
    () => 'Jobs requeued.',
  );
  const cancel = useAsked(
    async () => await post('cancel'),
    ({ status }) => (status === 'cancelled' ? 'Batch cancelled.' : 'Cancellation requested.'),
  );
  if (!useMay('jobs:write')) return null;
  const again = batch.status === 'cancelling' ? null : retryLabel(batch);
  return (
    <>
      {batch.status === 'open' && (
        <button type="button" className="primary" onClick={() => close.mutate(undefined)}>
          <Icon name="check" />
          Close
        </button>
      )}
      {again !== null && (
        <button
          type="button"
          className={batch.status === 'open' ? '' : 'primary'}
          title="Retry the jobs that failed or were cancelled; the batch waits for them again"
          onClick={() => retry.mutate(undefined)}
        >
          <Icon name="retry" />
          {again}
        </button>
      )}
      {mayCancelBatch(batch) && (
        <AskButton
          label={
            <>
              <Icon name="stop" />
              Cancel
            </>
          }
          className="danger"
          title="Cancel this batch?"
          confirm="Cancel batch"
          dismiss="Keep batch"
          onConfirm={() => cancel(undefined)}
        >
          <p>{cancelBatchWords(batch)}</p>
        </AskButton>
      )}
    </>
  );
}
