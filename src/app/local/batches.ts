import type { BatchCalls } from '../../client/batches/batches.ts';
import {
  addBatchJobs,
  type Batches,
  createBatch,
  endBatch,
  noSuchBatch,
  retryUnsuccessful,
} from '../../enqueue/batches.ts';
import { parseBatchJobs, parseNewBatch } from '../../protocol/requests/batches/batch-body.ts';
import { inSlices } from '../../runtime/slices.ts';
import { readBatch } from '../../store/batches/read-batches.ts';
import { answerOf } from './answer.ts';

/** Batches without HTTP: the checks and the store of the API. `storing` keeps track of writes. */
export function localBatches(
  parts: Batches,
  tenant: string,
  storing: <T>(work: Promise<T>) => Promise<T>,
): BatchCalls {
  const { db, enqueuer } = parts;
  const about = { tenant, header: undefined, paramsMaxBytes: enqueuer.paramsMaxBytes };
  const found = async (batchId: string) =>
    (await readBatch(db, tenant, batchId)) ?? noSuchBatch(batchId);
  const make = async (body: object) => {
    const request = await inSlices(parseNewBatch(body, about));
    return (await createBatch(parts, tenant, request)).batch;
  };
  const add = async (batchId: string, body: object) => {
    await found(batchId);
    const added = await inSlices(parseBatchJobs(body, about));
    return await addBatchJobs(parts, tenant, batchId, added);
  };
  return {
    make: async (body) => await storing(make(body)),
    addJobs: async (batchId, body) => await storing(add(batchId, body)),
    change: async (batchId, how) =>
      await storing(
        how === 'retry'
          ? retryUnsuccessful(db, tenant, batchId, null)
          : endBatch(db, tenant, batchId, how, null),
      ),
    get: async (batchId, signal) => {
      signal?.throwIfAborted();
      return await answerOf(found(batchId));
    },
  };
}
