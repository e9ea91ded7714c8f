import { closed, exampleBody, flag } from './fields.ts';
import { parseBody } from './requests/parse-body.ts';

/** Body of `POST /v1/jobs/{jobId}/cancel`. */
export const CancelBody = closed({
  children: flag()
    .default(false)
    .describe('Cancel also the children that it has spawned, and theirs. Default false.'),
}).meta(exampleBody({ children: true }));

/** Accepts no body as well. Throws a `Refusal`. */
export function parseCancel(body: unknown): { children: boolean } {
  return parseBody(CancelBody, body ?? {});
}
