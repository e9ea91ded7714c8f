import { z } from 'zod';
import { type ChangeView, TOPICS } from '../../core/views/change-feed.ts';
import { closed, text } from '../fields.ts';

/** Query of `GET /v1/stream`. */
export const ChangeFeedQuery = closed({
  cursor: text(400).optional().describe('The id of the last known change.'),
});

export const ChangeAnswer = z
  .looseObject({
    id: z.string().describe('As cursor or Last-Event-ID: continue after this change.'),
    topics: z.array(z.enum(TOPICS)).describe('Changed topics; empty if nothing has changed.'),
    definitionKeys: z
      .array(z.string())
      .nullable()
      .describe('For the topic jobs: definitions whose jobs have changed. Null: possibly all.'),
  })
  .meta({
    id: 'Change',
    description: 'A change, by topics.',
  }) satisfies z.ZodType<ChangeView>;
