import { DAY_MS, duration, MINUTE_MS } from '../values/duration.ts';
import { isRecord } from '../values/record.ts';
import { checkParams } from '../job/params.ts';

/**
 * A link with which a person without an account sends one signal to one job. It contains a random
 * secret, of which only the hash is stored, with the steps of the job. So there is no key to keep or
 * to rotate, and the link ends with the job.
 */

export const LINK_MS_MIN = MINUTE_MS;
export const LINK_MS_MAX = 90 * DAY_MS;
export const LINK_MS_DEFAULT = 7 * DAY_MS;
export const LINK_TEXT_MAX = 2_000;
export const CHOICES_MAX = 10;
export const CHOICE_LABEL_MAX = 60;
export const LINKS_MAX = 100;
export const LINKS_PATH = '/v1/links';
export const LINK_ID_BYTES = 8;
export const LINK_SECRET_BYTES = 32;

const LINK = 'link:';
const LINK_END = 'link-end:';

/** The step that holds a `SignalLink`. */
export const linkStep = (linkId: string) => `${LINK}${linkId}`;
/** The step that says how a link ended: "used" or "revoked". Only the server stores it. */
export const linkEndStep = (linkId: string) => `${LINK_END}${linkId}`;

export function isLinkStep(name: string): boolean {
  return name.startsWith(LINK) || isLinkEndStep(name);
}

export function isLinkEndStep(name: string): boolean {
  return name.startsWith(LINK_END);
}

export interface LinkChoice {
  /** Of the button. */
  label: string;
  /** The payload that the button sends. */
  payload: unknown;
}

export interface SignalLinkOptions {
  /** Default 7 days, at most 90 days. */
  expiresInMs?: number | undefined;
  /** What the page asks, as plain text. */
  text?: string | undefined;
  /** Buttons, each with its payload. Without them the page has the form of the schema. */
  choices?: readonly LinkChoice[] | undefined;
}

/** What is stored of a link. */
export interface SignalLink {
  signal: string;
  /** SHA-256 of the secret, in hex. */
  hash: string;
  /** Unix time in milliseconds. */
  expiresAtMs: number;
  text: string | null;
  choices: LinkChoice[] | null;
}

export interface LinkToken {
  jobId: string;
  linkId: string;
  secret: string;
}

const SHAPE = /^lsl_([0-9a-f]{32})_([0-9a-f]{16})_([0-9a-f]{64})$/;

/** The prefix lets scanners find leaked links. Nothing in it is escaped in chats or HTML. */
export function formatLinkToken({ jobId, linkId, secret }: LinkToken): string {
  return `lsl_${jobId.replaceAll('-', '')}_${linkId}_${secret}`;
}

/** Null when the text is not the token of a link. */
export function parseLinkToken(text: string): LinkToken | null {
  const [, job = '', linkId = '', secret = ''] = SHAPE.exec(text) ?? [];
  const jobId = job.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  return secret === '' ? null : { jobId, linkId, secret };
}

export function linkUrl(baseUrl: string, token: LinkToken): string {
  return `${baseUrl.replace(/\/+$/, '')}${LINKS_PATH}/${formatLinkToken(token)}`;
}

export type LinkState = 'open' | 'used' | 'revoked' | 'expired';

export function linkState(
  { expiresAtMs }: Pick<SignalLink, 'expiresAtMs'>,
  end: 'used' | 'revoked' | null,
  nowMs: number,
): LinkState {
  if (end !== null) return end;
  return nowMs < expiresAtMs ? 'open' : 'expired';
}

/** What is wrong with the options of `ctx.signalLink`; null when nothing is. */
export function linkOptionsProblem({
  expiresInMs,
  text,
  choices,
}: SignalLinkOptions): string | null {
  if (expiresInMs !== undefined && !(expiresInMs >= LINK_MS_MIN && expiresInMs <= LINK_MS_MAX)) {
    return `expiresInMs must be ${duration(LINK_MS_MIN)} to ${duration(LINK_MS_MAX)} in milliseconds`;
  }
  if (text !== undefined && (typeof text !== 'string' || text.length > LINK_TEXT_MAX)) {
    return `text must be a text of at most ${LINK_TEXT_MAX} characters`;
  }
  if (choices === undefined) return null;
  if (!Array.isArray(choices) || choices.length === 0 || choices.length > CHOICES_MAX) {
    return `choices must be a list of 1 to ${CHOICES_MAX} entries`;
  }
  return choices.map(choiceProblem).find((problem) => problem !== null) ?? null;
}

function choiceProblem(choice: unknown): string | null {
  const label = isRecord(choice) ? choice['label'] : undefined;
  if (typeof label !== 'string' || label === '' || label.length > CHOICE_LABEL_MAX) {
    return `a choice must have a label of 1 to ${CHOICE_LABEL_MAX} characters`;
  }
  const checked = checkParams(isRecord(choice) ? (choice['payload'] ?? null) : null);
  return checked.ok ? null : `the payload of the choice "${label}": ${checked.detail}`;
}

export function newLink(
  signal: string,
  hash: string,
  { expiresInMs = LINK_MS_DEFAULT, text, choices }: SignalLinkOptions,
  nowMs: number,
): SignalLink {
  return {
    signal,
    hash,
    expiresAtMs: nowMs + expiresInMs,
    text: text ?? null,
    choices: choices?.map(({ label, payload }) => ({ label, payload: payload ?? null })) ?? null,
  };
}

/** A link as it was stored, perhaps by a worker of another release; null when it is none. */
export function storedLink(value: unknown): SignalLink | null {
  if (!isRecord(value)) return null;
  const { signal, hash, expiresAtMs, text = null, choices = null } = value as Partial<SignalLink>;
  if (typeof signal !== 'string' || typeof hash !== 'string') return null;
  if (typeof expiresAtMs !== 'number') return null;
  const options = { text: text ?? undefined, choices: choices ?? undefined };
  return linkOptionsProblem(options) === null ? { signal, hash, expiresAtMs, text, choices } : null;
}
