import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { type DeadLetterView, groupLetters, partsOf } from '../../core/failure/dead-letter.ts';
import { BulkAnswer, BulkPreviewAnswer } from '../../protocol/answers/bulk-answer.ts';
import { DeadLetterRetryBody, parseDeadLetterRetry } from '../../protocol/requests/bulk-body.ts';
import {
  DeadLetterGroupsAnswer,
  DeadLetterPageAnswer,
} from '../../protocol/answers/dead-letter-answer.ts';
import {
  DeadLetterGroupQuery,
  DeadLetterQuery,
} from '../../protocol/requests/dead-letter-query.ts';
import { PAGE_MAX } from '../../protocol/requests/job-query.ts';
import { needsJobs } from '../../core/search/search.ts';
import { Refusal } from '../../protocol/refusal.ts';
import { systemClock } from '../../runtime/clock.ts';
import { deadGroups } from '../../store/read/dead-groups.ts';
import { type DeadLetterSearch, searchDeadLetters } from '../../store/read/dead-letters.ts';
import { sendBulk } from '../bulk-reply.ts';
import { nextLink } from '../cursors/cursor.ts';
import { makeDeadLetterCursor, readDeadLetterCursor } from '../cursors/dead-letter-cursor.ts';
import type { HttpDeps } from '../deps.ts';
import { answer, bodyRefusals, refusals } from '../openapi.ts';
import type { Redaction } from '../access/redaction.ts';
import type { SearchSlots } from '../edge/search-slots.ts';
import { tenantOf } from '../access/tenant.ts';
import { unsearchedBy } from './search/unsearched.ts';

const LIST = {
  operationId: 'listDeadLetters',
  tags: ['failures'],
  summary: 'List dead letters',
  description:
    'Jobs that failed for good, latest failure first. While nextCursor is not null there may be ' +
    'more.',
  querystring: DeadLetterQuery,
  response: {
    200: answer('A page of failed jobs.', DeadLetterPageAnswer),
    ...refusals('UNAVAILABLE'),
  },
};

const GROUPS = {
  operationId: 'listDeadLetterGroups',
  tags: ['failures'],
  summary: 'Group dead letters by error',
  description:
    'Errors with the same fingerprint have the same code, class, normalized message and position ' +
    'in the code. With buckets, also counts over time.',
  querystring: DeadLetterGroupQuery,
  response: { 200: answer('The groups.', DeadLetterGroupsAnswer), ...refusals('UNAVAILABLE') },
};

const RETRY = {
  operationId: 'retryDeadLetters',
  tags: ['failures'],
  summary: 'Retry dead letters',
  description:
    'Retries all matching jobs that have failed so far, as a bulk action: GET /v1/bulk/{bulkId} ' +
    'shows its progress. Without fields, all dead letters.',
  body: DeadLetterRetryBody,
  response: {
    200: answer('The preview.', BulkPreviewAnswer),
    202: answer('The bulk action was started.', BulkAnswer),
    ...bodyRefusals('PAYLOAD_INVALID'),
  },
};

/** Maximum number of pages of a text search that are grouped. */
const PAGES_FOUND_MAX = 4;

const READS = { access: 'jobs:read' } as const;
const WRITES = { access: 'jobs:write' } as const;

export function deadLetterRoutes(
  app: FastifyInstance,
  { db }: HttpDeps,
  redaction: Redaction,
  searches: SearchSlots,
): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();

  typed.get('/v1/dead-letters', { schema: LIST, config: READS }, async (request, reply) => {
    const { cursor, limit, ...query } = request.query;
    const after = cursor === undefined ? null : readDeadLetterCursor(cursor);
    const wanted = { ...searchOf(query), tenant: tenantOf(request), after, limit };
    const search = async () => await searchDeadLetters(db, wanted);
    const { jobs, next } =
      query.q === undefined ? await search() : await searches.run(wanted.tenant, search);
    const nextCursor = next === null ? null : makeDeadLetterCursor(next);
    if (nextCursor !== null) void reply.header('link', nextLink(request.url, nextCursor));
    const searchedUntil = next && new Date(`${next.at.replace(' ', 'T')}Z`).toISOString();
    const shown = await redaction.found(request, jobs, query.q);
    const unsearched = await unsearchedBy(db, wanted.tenant, query.q);
    return reply.send({ jobs: shown, nextCursor, searchedUntil, unsearched });
  });

  typed.get('/v1/dead-letters/groups', { schema: GROUPS, config: READS }, async (request) => {
    const { limit, buckets, ...query } = request.query;
    const tenant = tenantOf(request);
    const search = { ...searchOf(query), tenant, limit };
    const parts = windowOf(query, buckets);
    if (query.q !== undefined && needsJobs(query.q)) {
      return await searches.run(tenant, async () => await groupsFound(request, search, parts));
    }
    const found = await deadGroups(db, { ...search, parts });
    return { ...found, groups: await redaction.groups(tenant, found.groups) };
  });

  /**
   * Groups the results of a text search, so that counts reveal no more about secrets than the
   * search.
   */
  async function groupsFound(
    request: FastifyRequest,
    search: Omit<DeadLetterSearch, 'after'>,
    parts: readonly Date[],
  ) {
    const letters: DeadLetterView[] = [];
    let after: DeadLetterSearch['after'] = null;
    for (let page = 0; page < PAGES_FOUND_MAX; page += 1) {
      const { jobs, next } = await searchDeadLetters(db, { ...search, after, limit: PAGE_MAX });
      const shown = await redaction.found(request, jobs, search.q ?? undefined);
      const prints = new Map(jobs.map(({ jobId, fingerprint }) => [jobId, fingerprint]));
      for (const job of shown) {
        letters.push({ ...job, fingerprint: prints.get(job.jobId) ?? null });
      }
      after = next;
      if (next === null) break;
    }
    const groups = groupLetters(letters, parts, after === null);
    const complete = after === null && groups.length <= search.limit;
    return { groups: groups.slice(0, search.limit), complete };
  }

  app.post('/v1/dead-letters/retry', { schema: RETRY, config: WRITES }, async (request, reply) => {
    await sendBulk(request, reply, { db, redaction }, parseDeadLetterRetry(request.body));
  });
}

type Window = Pick<Partial<DeadLetterQuery>, 'from' | 'to'>;

function windowOf({ from, to }: Window, buckets: number | undefined): Date[] {
  if (buckets === undefined) return [];
  if (from !== undefined) return partsOf(from, to ?? systemClock.now(), buckets);
  const errors = [{ pointer: '/buckets', detail: 'requires from, the start of the window' }];
  throw new Refusal('VALIDATION_FAILED', 'buckets requires from', { errors });
}

function searchOf(query: Partial<Omit<DeadLetterQuery, 'cursor' | 'limit'>>) {
  return {
    definitionKey: query.definitionKey ?? null,
    errorCode: query.errorCode ?? null,
    fingerprint: query.fingerprint ?? null,
    from: query.from ?? null,
    to: query.to ?? null,
    q: query.q ?? null,
  };
}
