import { z } from 'zod';
import {
  CHOICE_LABEL_MAX,
  CHOICES_MAX,
  LINK_MS_DEFAULT,
  LINK_MS_MAX,
  LINK_MS_MIN,
  LINK_TEXT_MAX,
  type SignalLinkOptions,
} from '../core/signal/signal-link.ts';
import { checkParams } from '../core/job/params.ts';
import { isSignalName, SIGNAL_NAME_RULE } from '../core/job/signal.ts';
import { closed, list, says, text, whole } from './fields.ts';
import { Findings } from './findings.ts';
import { SignalParams } from './signal.ts';
import { violations } from './violations.ts';

export const SignalLinkParams = SignalParams.extend({
  linkId: z.string().describe('The id of the link.'),
});

export const LinkParams = z.object({
  token: z.string().describe('The secret part of the link.'),
});

const textRule = says(`must be text of at most ${LINK_TEXT_MAX} characters`);

/** Body of `POST /v1/jobs/{jobId}/signals/{name}/links`. */
export const SignalLinkBody = closed({
  expiresInMs: whole(LINK_MS_MIN, LINK_MS_MAX)
    .optional()
    .describe(`How long the link works. Default ${LINK_MS_DEFAULT} (7 days).`),
  text: z
    .string(textRule)
    .max(LINK_TEXT_MAX, textRule)
    .optional()
    .describe('What the page asks, as plain text.'),
  choices: list(closed({ label: text(CHOICE_LABEL_MAX), payload: z.unknown() }), 1, CHOICES_MAX)
    .optional()
    .describe('Buttons, each with the payload that it sends. Default: a form made of the schema.'),
});

const linkId = z.string().describe('To revoke the link. It is no secret.');
const expiresAt = z.iso.datetime();

export const SignalLinkAnswer = z.looseObject({
  jobId: z.string(),
  signal: z.string(),
  linkId,
  url: z.string().describe('The link itself. The server shows it only here.'),
  expiresAt,
});

export const SignalLinksAnswer = z.looseObject({
  links: z.array(
    z.looseObject({
      linkId,
      expiresAt,
      state: z.enum(['open', 'used', 'revoked', 'expired']),
      endedAt: z.iso.datetime().nullable().describe('When it was used or revoked.'),
    }),
  ),
});

/** Throws a `Refusal`. */
export function parseSignalLink(name: string, body: unknown): SignalLinkOptions {
  const findings = new Findings();
  if (!isSignalName(name)) {
    findings.add('VALIDATION_FAILED', { pointer: '/name', detail: `must be ${SIGNAL_NAME_RULE}` });
  }
  const shape = SignalLinkBody.safeParse(body ?? {});
  if (!shape.success) findings.add('VALIDATION_FAILED', ...violations(shape.error.issues, 'field'));
  for (const [index, { payload }] of (shape.data?.choices ?? []).entries()) {
    const checked = checkParams(payload ?? null);
    if (checked.ok) continue;
    const pointer = `/choices/${index}/payload${checked.pointer}`;
    findings.add(checked.code, { pointer, detail: checked.detail });
  }
  if (findings.any || !shape.data) throw findings.refusal();
  const { choices, ...options } = shape.data;
  if (!choices) return options;
  return {
    ...options,
    choices: choices.map(({ label, payload }) => ({ label, payload: payload ?? null })),
  };
}
