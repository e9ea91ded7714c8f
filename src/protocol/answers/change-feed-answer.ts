import { z } from 'zod';
import { type ChangeView, TOPICS } from '../../core/views/change-feed.ts';
import { closed, text } from '../fields.ts';

/** What `GET /v1/stream` can be asked. */
export const ChangeFeedQuery = closed({
  cursor: text(400).optional().describe('The id of the last change that you know of.'),
});

export const ChangeAnswer = z
  .looseObject({
    id: z.string().describe('As a cursor, or as Last-Event-ID, it leads on after this change.'),
    topics: z.array(z.enum(TOPICS)).describe('What has changed; empty when nothing has.'),
    definitionKeys: z
      .array(z.string())
      .nullable()
      .describe('Of the topic jobs: whose jobs have moved. Null when it may be any of them.'),
  })
  .meta({
    id: 'Change',
    description: 'That something has changed, by topics.',
  }) satisfies z.ZodType<ChangeView>;
