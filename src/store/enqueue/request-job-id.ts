import { createHash } from 'node:crypto';
import { makeJobId, timeOfJobId } from '../../core/job/job-id.ts';

/**
 * The id of the job that a request creates. The same request always gets the same id, so the primary key
 * of the job prevents a second one, and no other row is needed. Tenant and definition are part of it: the
 * request of another tenant never has the same id.
 */
export function jobIdOfRequest(
  requestId: string,
  { tenant, definitionKey }: { tenant: string; definitionKey: string },
  shard: number,
): string {
  const hash = createHash('sha256').update(`${tenant}\n${definitionKey}\n${requestId}`).digest();
  return makeJobId({
    timeMs: timeOfJobId(requestId),
    sequence: hash.readUInt16BE(0),
    random: [hash.readUInt32BE(2), hash.readUInt32BE(6)],
    shard,
  });
}
