import { z } from 'zod';
import type { SearchValues } from '../../core/search/complete.ts';
import { type SavedView, VIEW_SCREEN_NAMES } from '../../core/search/saved-view.ts';

const Moment = z.iso.datetime();

export const ViewAnswer = z
  .looseObject({
    name: z.string(),
    screen: z.enum(VIEW_SCREEN_NAMES).describe('The list that it is a view of.'),
    query: z.string().describe('The query string of the screen in the dashboard.'),
    createdAt: Moment,
    updatedAt: Moment,
    updatedBy: z.string().describe('Who saved it last.'),
  })
  .meta({ id: 'View', description: 'A saved search.' }) satisfies z.ZodType<SavedView>;

export const ViewsAnswer = z.looseObject({ views: z.array(ViewAnswer) });

export const SearchValuesAnswer = z.looseObject({
  definitions: z.array(z.string()).describe('Keys of definitions that have jobs.'),
  owners: z.array(z.string()).describe('Owners of these definitions.'),
  codes: z.array(z.string()).describe('Codes of recent failures, most frequent first.'),
  tags: z.array(z.string()).describe('Tags of recent jobs, most frequent first.'),
}) satisfies z.ZodType<SearchValues>;
