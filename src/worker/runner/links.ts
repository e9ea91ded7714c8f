import {
  LINK_ID_BYTES,
  LINK_SECRET_BYTES,
  linkOptionsProblem,
  linkStep,
  linkUrl,
  newLink,
} from '../../core/signal/signal-link.ts';
import { isSignalName, SIGNAL_NAME_RULE } from '../../core/job/signal.ts';
import type { ContextLinkOptions } from '../../core/definition/define.ts';
import type { Saves } from './saves.ts';

/** What the links of a job need of its runner. */
export interface LinkSurroundings {
  readonly nowMs: () => number;
  readonly publicUrl: string | null;
}

/**
 * Makes a one-time link to a signal of this job. The runner makes the secret, and only its hash is
 * stored.
 */
export async function makeLink(
  saves: Saves,
  jobId: string,
  signal: string,
  { baseUrl, ...options }: ContextLinkOptions,
  { nowMs, publicUrl }: LinkSurroundings,
): Promise<string> {
  if (!isSignalName(signal)) throw new TypeError(`the name of a signal is ${SIGNAL_NAME_RULE}`);
  const problem = linkOptionsProblem(options);
  if (problem !== null) throw new TypeError(`signalLink: ${problem}`);
  const base = baseUrl ?? publicUrl;
  if (base === null) {
    throw new TypeError('signalLink needs the address of the server: set LONGSHORE_PUBLIC_URL');
  }
  const linkId = randomHex(LINK_ID_BYTES);
  const secret = randomHex(LINK_SECRET_BYTES);
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(secret));
  const link = newLink(signal, Buffer.from(hash).toString('hex'), options, nowMs());
  await saves.own(linkStep(linkId), () => link);
  return linkUrl(base, { jobId, linkId, secret });
}

function randomHex(bytes: number): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString('hex');
}
