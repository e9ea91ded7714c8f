import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { linkState } from '../../../core/signal/signal-link.ts';
import { makeSignalLink } from '../../../enqueue/signal-links.ts';
import { Refusal } from '../../../protocol/refusal.ts';
import { parseNothing } from '../../../protocol/requests/parse-nothing.ts';
import {
  parseSignalLink,
  SignalLinkAnswer,
  SignalLinkBody,
  SignalLinkParams,
  SignalLinksAnswer,
} from '../../../protocol/signal-link.ts';
import { SignalParams } from '../../../protocol/signal.ts';
import { systemClock } from '../../../runtime/clock.ts';
import { listSignalLinks, revokeSignalLink } from '../../../store/change/signal-links.ts';
import { actorOf } from '../../access/caller.ts';
import { tenantOf } from '../../access/tenant.ts';
import { changeRefusals, signalRefusals } from '../../change.ts';
import { noSuchJob, wellFormed } from '../../cursors/job-path.ts';
import type { HttpDeps } from '../../deps.ts';
import { answer, refusals } from '../../openapi.ts';

const CREATE = {
  operationId: 'createSignalLink',
  tags: ['jobs'],
  summary: 'Create a one-time link for a signal',
  description:
    'Anyone who has the link can send this signal to this job once, without a key. Opening it shows ' +
    'a page with a form; only sending the form uses it. A job that has ended, or has the signal ' +
    'already, returns 409.',
  params: SignalParams,
  body: SignalLinkBody,
  response: { 201: answer('The link.', SignalLinkAnswer), ...signalRefusals },
};

const LIST = {
  operationId: 'listSignalLinks',
  tags: ['jobs'],
  summary: 'List the links for a signal',
  description: 'The links of a job for this signal, the oldest first, without their secrets.',
  params: SignalParams,
  response: { 200: answer('The links.', SignalLinksAnswer), ...refusals('NOT_FOUND') },
};

const REVOKE = {
  operationId: 'revokeSignalLink',
  tags: ['jobs'],
  summary: 'Revoke a link for a signal',
  description: 'The link does not work any more. May be repeated. A used link returns 409.',
  params: SignalLinkParams,
  response: { 204: z.null().describe('The link is revoked.'), ...changeRefusals },
};

const WRITES = { access: 'jobs:write' } as const;

/** Links for people without an account. `link-page.ts` serves their pages. */
export function signalLinksRoutes(
  app: FastifyInstance,
  { db, publicUrl = null }: HttpDeps,
  clock = systemClock,
): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();

  typed.post(
    '/v1/jobs/:jobId/signals/:name/links',
    { schema: CREATE, config: WRITES },
    async (request, reply) => {
      const jobId = wellFormed(request.params.jobId);
      const { name: signal } = request.params;
      const options = parseSignalLink(signal, request.body);
      const made = await makeSignalLink(db, tenantOf(request), { jobId, signal }, options, {
        baseUrl: publicUrl ?? ownUrl(request),
        by: actorOf(request),
        now: clock.now(),
      });
      return reply.code(201).send(made ?? noSuchJob(jobId));
    },
  );

  typed.get(
    '/v1/jobs/:jobId/signals/:name/links',
    { schema: LIST, config: { access: 'jobs:read' } },
    async (request) => {
      const jobId = wellFormed(request.params.jobId);
      const found = await listSignalLinks(db, tenantOf(request), jobId, request.params.name);
      const nowMs = clock.now().getTime();
      const links = (found ?? noSuchJob(jobId)).map(({ linkId, link, end }) => ({
        linkId,
        expiresAt: new Date(link.expiresAtMs).toISOString(),
        state: linkState(link, end?.how ?? null, nowMs),
        endedAt: end?.at.toISOString() ?? null,
      }));
      return { links };
    },
  );

  typed.delete(
    '/v1/jobs/:jobId/signals/:name/links/:linkId',
    { schema: REVOKE, config: WRITES },
    async (request, reply) => {
      const { jobId, linkId, name } = request.params;
      parseNothing(request.body);
      const token = { jobId: wellFormed(jobId), linkId };
      const how = await revokeSignalLink(db, tenantOf(request), token, name, actorOf(request));
      if (how === null) throw new Refusal('NOT_FOUND', 'the job has no such link');
      if (how === 'used') throw new Refusal('CONFLICT', 'the link was used already');
      return reply.code(204).send(null);
    },
  );
}

/** The host was checked (`access/guards.ts`). */
function ownUrl(request: FastifyRequest): string {
  const encrypted = 'encrypted' in request.socket;
  return `${encrypted ? 'https' : 'http'}://${request.headers.host ?? 'localhost'}`;
}
