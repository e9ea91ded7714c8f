export interface Outgoing {
  url: string;
  method: string;
  headers: Record<string, string>;
  body?: string | undefined;
  signal?: AbortSignal | undefined;
  /** The limit until the response is read. */
  timeoutMs: number;
}

export interface Incoming {
  status: number;
  headers: Pick<Headers, 'get'>;
  text: string;
}

/** Sends a request and reads the whole response. Throws when there is none. */
export type Send = (request: Outgoing) => Promise<Incoming>;

export class NoAnswer extends Error {
  override name = 'NoAnswer';

  constructor(timeoutMs: number) {
    super(`no answer within ${timeoutMs} ms`);
  }
}

export function fetchSend(via: typeof fetch): Send {
  return async ({ url, method, headers, body = null, signal, timeoutMs }) => {
    const limit = AbortSignal.timeout(timeoutMs);
    const either = signal ? AbortSignal.any([signal, limit]) : limit;
    try {
      const response = await via(url, { method, headers, body, signal: either });
      return { status: response.status, headers: response.headers, text: await response.text() };
    } catch (error) {
      throw limit.aborted ? new NoAnswer(timeoutMs) : error;
    }
  };
}
