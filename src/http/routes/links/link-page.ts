import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { fieldsOf, paramsOf, readJson, type Typed } from '../../../core/form/schema-form.ts';
import { isTerminal } from '../../../core/job/job.ts';
import { LINKS_PATH, linkState, parseLinkToken } from '../../../core/signal/signal-link.ts';
import { sendSignal } from '../../../enqueue/send-signal.ts';
import { LinkParams } from '../../../protocol/signal-link.ts';
import { parseSignal } from '../../../protocol/signal.ts';
import { Refusal } from '../../../protocol/refusal.ts';
import { systemClock } from '../../../runtime/clock.ts';
import { readWait } from '../../../store/change/signal-job.ts';
import { openSignalLink, type OpenedLink } from '../../../store/change/signal-links.ts';
import type { HttpDeps } from '../../deps.ts';
import type { RateLimits } from '../../edge/rate-limits.ts';
import { answer, refusals } from '../../openapi.ts';
import {
  CHOICE,
  JSON_PAYLOAD,
  type Question,
  sendQuestion,
  sendText,
  timeText,
  type Wrong,
} from './link-html.ts';

const page = (status: number, description: string) => ({
  [status]: answer(description, z.string(), 'text/html'),
});

const PAGES = {
  ...page(404, 'There is no such link.'),
  ...page(409, 'The job has ended, has the answer already, or does not ask yet.'),
  ...page(410, 'The link was used, was revoked or has expired.'),
  ...refusals('RATE_LIMITED', 'UNAVAILABLE'),
};

const SHOW = {
  operationId: 'showSignalLink',
  tags: ['jobs'],
  summary: 'Show the page of a one-time link',
  description: 'For browsers. It needs no key and changes nothing: mail scanners may open it.',
  params: LinkParams,
  response: { ...page(200, 'A form.'), ...PAGES },
};

const SEND = {
  operationId: 'useSignalLink',
  tags: ['jobs'],
  summary: 'Send the form of a one-time link',
  description: 'For browsers: sends the signal to the job. It needs no key, and works once.',
  params: LinkParams,
  response: {
    ...page(200, 'The answer was sent.'),
    ...PAGES,
    ...page(422, 'The form with what is wrong.'),
  },
};

const BODY_MAX_BYTES = 262_144;
const CONFIG = { access: 'public' } as const;

/** The pages of links for people without an account: no script, no cookie, not cached. */
export function linkPageRoutes(
  app: FastifyInstance,
  { db, log }: HttpDeps,
  limits: RateLimits,
  clock = systemClock,
): void {
  /** Null when the answer is sent. */
  const open = async (request: FastifyRequest, reply: FastifyReply): Promise<OpenedLink | null> => {
    limits.beforeLink(request);
    const token = parseLinkToken((request.params as { token: string }).token);
    const found = token && (await openSignalLink(db, token));
    if (!found) {
      limits.afterWrongLink(request);
      sendText(reply, 404, 'This link is not valid', 'Check that the address is complete.');
      return null;
    }
    const { link, end, state } = found;
    const stands = linkState(link, end?.how ?? null, clock.now().getTime());
    if (stands === 'open' && isTerminal(state)) {
      const text = `The job has ended (${state}), so it needs no answer.`;
      sendText(reply, 409, 'The job has ended', text);
      return null;
    }
    if (stands === 'open') return found;
    const when = timeText(end?.at ?? new Date(link.expiresAtMs));
    sendText(reply, 410, 'This link does not work any more', ENDED[stands](when));
    return null;
  };

  app.register(async (scope) => {
    scope.addContentTypeParser<string>(
      'application/x-www-form-urlencoded',
      { parseAs: 'string', bodyLimit: BODY_MAX_BYTES },
      (_request, body, done) => done(null, Object.fromEntries(new URLSearchParams(body))),
    );
    const typed = scope.withTypeProvider<ZodTypeProvider>();

    typed.get(`${LINKS_PATH}/:token`, { schema: SHOW, config: CONFIG }, async (request, reply) => {
      const found = await open(request, reply);
      if (!found) return reply;
      const asked = await question(found);
      return asked ? sendQuestion(reply, asked) : sendNotYet(reply);
    });

    typed.post(
      `${LINKS_PATH}/:token`,
      { schema: SEND, config: CONFIG, bodyLimit: BODY_MAX_BYTES },
      async (request, reply) => {
        const found = await open(request, reply);
        if (!found) return reply;
        const asked = await question(found);
        if (!asked) return sendNotYet(reply);
        const form = formOf(request.body);
        const read = payloadOf(asked, form);
        if ('wrong' in read) return sendQuestion(reply, asked, form, read.wrong);
        const { tenant, jobId, linkId, link } = found;
        const by = { name: `link:${linkId}`, address: request.clientAddress };
        try {
          const signal = parseSignal(link.signal, { payload: read.payload });
          await sendSignal(db, tenant, jobId, { ...signal, linkId }, by);
        } catch (error) {
          if (!(error instanceof Refusal)) throw error;
          if (error.code !== 'CONFLICT') return sendQuestion(reply, asked, form, wrongOf(error));
          return sendText(reply, 409, 'The answer was not sent', `${error.message}.`);
        }
        log.info({ jobId, link: linkId, signal: link.signal }, 'a link sent a signal');
        return sendText(reply, 200, 'Thank you', 'The answer was sent, and the job continues.');
      },
    );
  });

  /** Null when the page has no choices of its own, and the job has not told its schema yet. */
  async function question({ tenant, jobId, definitionKey, link }: OpenedLink) {
    const { signal, text, choices, expiresAtMs } = link;
    const wait = await readWait(db, { tenant, jobId }, signal);
    if (!wait && !choices) return null;
    const expiresAt = new Date(expiresAtMs);
    const schema = wait?.schema ?? null;
    return { definitionKey, signal, text, expiresAt, choices, schema } satisfies Question;
  }
}

const ENDED = {
  used: (when: string) => `It was used on ${when}.`,
  revoked: (when: string) => `It was revoked on ${when}.`,
  expired: (when: string) => `It expired on ${when}.`,
};

function sendNotYet(reply: FastifyReply) {
  const text = 'The job does not ask for an answer yet. Open the link again later.';
  return sendText(reply, 409, 'Not yet', text);
}

function formOf(body: unknown): Typed {
  const entries = Object.entries((body ?? {}) as Record<string, unknown>);
  return Object.fromEntries(entries.map(([name, value]) => [name, String(value)]));
}

function payloadOf(
  { choices, schema }: Question,
  form: Typed,
): { payload: unknown } | { wrong: Wrong } {
  if (choices) {
    const chosen = choices[Number(form[CHOICE] ?? Number.NaN)];
    return chosen ? { payload: chosen.payload } : { wrong: { '': 'Choose one of the answers.' } };
  }
  const fields = fieldsOf(schema);
  if (!fields) {
    const read = readJson(form[JSON_PAYLOAD] ?? 'null');
    return 'value' in read ? { payload: read.value } : { wrong: { '': read.wrong } };
  }
  const read = paramsOf(fields, form);
  return 'params' in read ? { payload: read.params } : { wrong: { [read.pointer]: read.wrong } };
}

function wrongOf({ errors = [], message }: Refusal): Wrong {
  if (errors.length === 0) return { '': message };
  return Object.fromEntries(
    errors.map(({ pointer, detail }) => [pointer.replace(/^\/payload/, ''), detail]),
  );
}
