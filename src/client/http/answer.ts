import { ProblemError, type ProblemDetail } from './errors.ts';
import { problemError } from './problems.ts';

/** The JSON of a successful response, or the problem of a refused one. */
export function readAnswer(
  url: string,
  status: number,
  text: string,
  retryAfterMs: number | null,
): unknown {
  const body = parse(text);
  if (status === 404 && typeof fieldsOf(body)['code'] !== 'string') return noLongshore(url);
  if (status < 200 || status > 299) return problemOf(status, body, retryAfterMs);
  if (body !== undefined || text === '') return body;
  return new ProblemError(
    status,
    'UNEXPECTED_ANSWER',
    `the server answered ${status} with something that is not JSON` +
      (apiHint(url) || ': is it a Longshore server?'),
  );
}

/** Not a `NotFound`: whether the object exists is unknown. */
function noLongshore(url: string): ProblemError {
  const detail =
    `${url} is no Longshore server: it answered 404 in other words than Longshore does` +
    apiHint(url);
  return new ProblemError(404, 'UNEXPECTED_ANSWER', detail);
}

/** The address that a person copies from the dashboard. */
function apiHint(url: string): string {
  const api = url.replace(/\/ui(\/.*)?$/, '');
  return api === url ? '' : `: ${url} is the dashboard; the server is ${api}`;
}

/** The error page of a proxy is no problem document; only its status is kept. */
function problemOf(status: number, body: unknown, retryAfterMs: number | null): ProblemError {
  const { code, detail, title, errors } = fieldsOf(body);
  const words = [detail, title].find((text) => typeof text === 'string' && text !== '');
  return problemError(
    status,
    typeof code === 'string' ? code : `HTTP_${status}`,
    typeof words === 'string' ? words : `the server answered ${status}`,
    Array.isArray(errors) ? errors.map(detailOf) : [],
    retryAfterMs,
  );
}

function detailOf(error: unknown): ProblemDetail {
  const { pointer, detail } = fieldsOf(error);
  return {
    pointer: typeof pointer === 'string' ? pointer : '',
    detail: typeof detail === 'string' ? detail : 'not valid',
  };
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
