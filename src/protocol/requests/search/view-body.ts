import { z } from 'zod';
import {
  VIEW_NAME_MAX,
  VIEW_QUERY_MAX,
  VIEW_SCREEN_NAMES,
  viewQueryProblem,
} from '../../../core/search/saved-view.ts';
import { closed, oneOf, says, text } from '../../fields.ts';

const QUERY_RULE = `must be a query string of at most ${VIEW_QUERY_MAX} characters`;

/** Body of `PUT /v1/views/{viewName}`. */
export const ViewBody = closed({
  screen: oneOf('screen', VIEW_SCREEN_NAMES).describe('The list that it is a view of.'),
  query: z
    .string(says(QUERY_RULE))
    .max(VIEW_QUERY_MAX, QUERY_RULE)
    .refine((value) => !/[\p{Cc}\p{Cs}\s]/u.test(value), QUERY_RULE)
    .meta({
      description: 'The query string of the screen in the dashboard.',
      examples: ['status=failed&q=owner%3Abilling'],
    }),
}).superRefine(({ screen, query }, { addIssue }) => {
  const problem = viewQueryProblem(screen, new URLSearchParams(query));
  if (problem !== null) addIssue({ code: 'custom', path: ['query'], message: problem });
});

export const ViewParams = z.object({
  viewName: text(VIEW_NAME_MAX)
    .describe('The name of the view.')
    .meta({ examples: ['Failed billing jobs'] }),
});
