import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import {
  changeSince,
  isSnapshotId,
  type Snapshot,
  snapshotOf,
} from '../../core/views/change-feed.ts';
import { ChangeAnswer, ChangeFeedQuery } from '../../protocol/answers/change-feed-answer.ts';
import { systemClock } from '../../runtime/clock.ts';
import { readVersions } from '../../store/read/read-versions.ts';
import { readLastEventId, readHistoryCursor } from '../cursors/cursor.ts';
import type { HttpDeps } from '../deps.ts';
import { EVENT_STREAM, wantsStream } from '../streams/event-stream.ts';
import { FreshAnswers } from '../access/fresh-answers.ts';
import { refusals } from '../openapi.ts';
import { noSuchPath } from '../problem.ts';
import { STREAM_LIMITS, type Streams } from '../streams/streams.ts';
import { tenantOf } from '../access/tenant.ts';

const FOLLOW = {
  operationId: 'followChanges',
  tags: ['server'],
  summary: 'Read or follow the change feed',
  description:
    'Returns the topics that have changed, not their content: jobs (by definition), workers, ' +
    'definitions, pauses, alerts, bulks and audit. With Accept: text/event-stream the response is a ' +
    'stream of events named change, at most one per second; the first one contains the current id. ' +
    'A disconnected client sends the last id as Last-Event-ID, as an EventSource does ' +
    'automatically, to any API process, and receives the changes since then. Heartbeats, progress ' +
    'and log lines are not part of the feed.',
  headers: z.object({
    'last-event-id': z.string().optional().describe('For streams: continue after this id.'),
  }),
  querystring: ChangeFeedQuery,
  response: {
    200: {
      description: 'The changes since the cursor. With Accept: text/event-stream, a live stream.',
      content: {
        'application/json': { schema: ChangeAnswer },
        [EVENT_STREAM]: { schema: z.string().describe('Server-sent events, endless.') },
      },
    },
    ...refusals('UNAVAILABLE'),
  },
};

const READS = { access: 'jobs:read' } as const;

/** All readers of a tenant share one query per second; without readers there is none. */
export function streamRoutes(app: FastifyInstance, deps: HttpDeps, streams: Streams): void {
  const { pollMaxMs } = { ...STREAM_LIMITS, ...deps.streams };
  const standings = new FreshAnswers<Snapshot>(systemClock, pollMaxMs);
  const standing = async (tenant: string) =>
    await standings.get(tenant, async () => snapshotOf(await readVersions(deps.db, tenant)));

  app
    .withTypeProvider<ZodTypeProvider>()
    .get('/v1/stream', { schema: FOLLOW, config: READS }, async (request, reply) => {
      const { cursor } = request.query;
      const { accept, 'last-event-id': seenId } = request.headers;
      const asked = cursor === undefined ? null : readHistoryCursor(cursor, isSnapshotId);
      if (!wantsStream(accept)) {
        const now = await standing(tenantOf(request));
        const nothing = { id: now.id, topics: [], definitionKeys: [] };
        return reply.send({ ...(changeSince(asked, now) ?? nothing) });
      }
      let seen: Snapshot | string | null =
        typeof seenId === 'string' ? readLastEventId(seenId, isSnapshotId) : asked;
      const read = async () => {
        await app.permit(request, null);
        const now = await standing(tenantOf(request));
        const change = changeSince(seen, now);
        seen = now;
        return { entries: change ? [change] : [], nextId: null, ended: false };
      };
      const missing = () => {
        throw noSuchPath();
      };
      return await streams.answer(request, reply, { read, missing, nameOf: () => 'change' }, null);
    });
}
