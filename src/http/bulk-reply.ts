import type { FastifyReply, FastifyRequest } from 'fastify';
import type { BulkRequest } from '../protocol/requests/bulk-body.ts';
import type { Db } from '../store/connection/db.ts';
import { previewBulk, startBulk } from '../store/change/start-bulk.ts';
import { actorOf } from './access/caller.ts';
import type { Redaction } from './access/redaction.ts';
import { tenantOf } from './access/tenant.ts';

/** Starts a bulk action, or returns its preview. */
export async function sendBulk(
  request: FastifyRequest,
  reply: FastifyReply,
  { db, redaction }: { db: Db; redaction: Redaction },
  { preview, ...what }: BulkRequest,
): Promise<void> {
  const bulkRequest = { tenant: tenantOf(request), ...what };
  if (preview) {
    const seen = await previewBulk(db, bulkRequest);
    return void (await reply.send({ ...seen, sample: await redaction.jobs(seen.sample) }));
  }
  const bulk = await startBulk(db, bulkRequest, actorOf(request));
  await reply.code(202).header('location', `/v1/bulk/${bulk.bulkId}`).send(bulk);
}
