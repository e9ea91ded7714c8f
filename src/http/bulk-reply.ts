import type { FastifyReply } from 'fastify';
import type { BulkRequest } from '../protocol/bulk-body.ts';
import type { Db } from '../store/db.ts';
import { previewBulk, startBulk } from '../store/start-bulk.ts';

/** Begins a bulk action and says where to look for it, or only tells what it would be about. */
export async function sendBulk(
  reply: FastifyReply,
  db: Db,
  tenant: string,
  { preview, ...wish }: BulkRequest,
): Promise<void> {
  if (preview) return void (await reply.send(await previewBulk(db, { tenant, ...wish })));
  const bulk = await startBulk(db, { tenant, ...wish });
  await reply.code(202).header('location', `/v1/bulk/${bulk.bulkId}`).send(bulk);
}
