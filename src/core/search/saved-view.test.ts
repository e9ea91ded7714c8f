import { expect, it } from 'vitest';
import { type ViewScreen, viewQueryProblem } from './saved-view.ts';

it.each<[ViewScreen, string, string | null]>([
  ['jobs', '', null],
  ['jobs', 'status=failed&status=retrying&q=owner%3Abilling&since=24h', null],
  ['dead-letters', 'window=24h&q=timeout', null],
  ['jobs', 'stauts=failed', 'unknown parameter of jobs "stauts": did you mean "status"?'],
  [
    'jobs',
    'cursor=x',
    'unknown parameter of jobs "cursor": known are status, definitionKey, tag, errorCode, q, since, sort',
  ],
  [
    'jobs',
    'q=owmer%3Ax',
    'q: unknown filter "owmer": did you mean "owner"? (to search for the text, write "owmer:x")',
  ],
])('%s %s', (screen, query, problem) => {
  expect(viewQueryProblem(screen, new URLSearchParams(query))).toBe(problem);
});
