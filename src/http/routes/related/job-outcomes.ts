import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { OUTCOMES_MAX_CHARS } from '../../../core/dependency/dependency.ts';
import type { OutcomesView, OutcomeView } from '../../../core/dependency/outcomes.ts';
import { shardOfJobId } from '../../../core/job/job-id.ts';
import type { JobView, TerminalState } from '../../../core/job/job.ts';
import { JobIdParams } from '../../../protocol/answers/job-answer.ts';
import { OutcomesAnswer } from '../../../protocol/answers/related-answer.ts';
import { RevealQuery } from '../../../protocol/requests/job-query.ts';
import { childEdges } from '../../../store/edges/load-children.ts';
import { endedParents } from '../../../store/edges/load-parents.ts';
import { viewAll } from '../../../store/read/view-page.ts';
import type { Redaction } from '../../access/redaction.ts';
import { tenantOf } from '../../access/tenant.ts';
import { wellFormed } from '../../cursors/job-path.ts';
import type { HttpDeps } from '../../deps.ts';
import { answer, refusals } from '../../openapi.ts';

const OUTCOMES = {
  operationId: 'listOutcomes',
  tags: ['jobs'],
  summary: 'List how the parents and the children of a job ended',
  description: 'What ctx.parents and ctx.waitForChildren() of an attempt give. Read-only.',
  params: JobIdParams,
  querystring: RevealQuery,
  response: {
    200: answer('The outcomes.', OutcomesAnswer),
    ...refusals('NOT_FOUND', 'UNAVAILABLE'),
  },
};

/** Jobs read before their sizes are added up. */
const VIEWED_AT_ONCE = 25;

interface Ended {
  id: string;
  ended: TerminalState | null;
}

export function jobOutcomesRoutes(
  app: FastifyInstance,
  { db }: HttpDeps,
  redaction: Redaction,
): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  const options = { schema: OUTCOMES, config: { access: 'jobs:read' } } as const;
  typed.get('/v1/jobs/:jobId/outcomes', options, async (request): Promise<OutcomesView> => {
    const jobId = wellFormed(request.params.jobId);
    const isRevealed = (await redaction.ofHistory(request, jobId)) === null;
    const shard = shardOfJobId(jobId);
    const parents = await endedParents(db, shard, jobId);
    const children = await childEdges(db, shard, jobId);
    const ended = [...parents.map(({ id, state }) => ({ id, ended: state })), ...children];

    const outcomes = new Map<string, OutcomeView>();
    let chars = 0;
    for (let from = 0; from < ended.length; from += VIEWED_AT_ONCE) {
      const some = ended.slice(from, from + VIEWED_AT_ONCE);
      const isFull = chars > OUTCOMES_MAX_CHARS;
      const found = isFull ? [] : await viewAll(db, tenantOf(request), some.map(idOf));
      const shown = isRevealed ? found : await redaction.jobs(found);
      const views = new Map(shown.map((view) => [view.jobId, view]));
      for (const one of some) {
        const outcome = outcomeOf(one, views.get(one.id));
        chars += isFull ? 0 : JSON.stringify(outcome).length;
        outcomes.set(one.id, chars > OUTCOMES_MAX_CHARS ? omitted(one) : outcome);
      }
    }

    const of = (one: Ended) => outcomes.get(one.id) ?? outcomeOf(one, undefined);
    return {
      parents: parents.map(({ id, state }) => of({ id, ended: state })),
      children: children.map((one) => ({ ...of(one), name: one.name, asked: one.asked })),
      complete: chars <= OUTCOMES_MAX_CHARS,
    };
  });
}

const idOf = ({ id }: Ended) => id;

function omitted(one: Ended): OutcomeView {
  return { ...outcomeOf(one, undefined), ...(one.ended !== null && { omitted: true }) };
}

/** A job that was deleted, or that runs again, has left only how it ended. */
function outcomeOf({ id, ended }: Ended, job: JobView | undefined): OutcomeView {
  const isKnown = job !== undefined && ended !== null && job.status === ended;
  return {
    jobId: id,
    status: ended,
    result: isKnown ? job.result : null,
    ...(isKnown && job.largeResult && { largeResult: job.largeResult }),
    error: isKnown ? job.error : null,
  };
}
