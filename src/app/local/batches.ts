import { type BatchCalls, quotedKey } from '../../client/batches/batches.ts';
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
  const about = (key: string | undefined) => {
    const header = key === undefined ? undefined : quotedKey(key);
    return { tenant, header, paramsMaxBytes: enqueuer.paramsMaxBytes };
  };
  const found = async (batchId: string) =>
    (await readBatch(db, tenant, batchId)) ?? noSuchBatch(batchId);
  const make = async (body: object, key: string | undefined) => {
    const request = await inSlices(parseNewBatch(body, about(key)));
    return (await createBatch(parts, tenant, request)).batch;
  };
  const add = async (batchId: string, body: object, key: string | undefined) => {
    await found(batchId);
    const added = await inSlices(parseBatchJobs(body, about(key)));
    return await addBatchJobs(parts, tenant, batchId, added);
  };
  return {
    make: async (body, key) => await storing(make(body, key)),
    addJobs: async (batchId, body, key) => await storing(add(batchId, body, key)),
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
