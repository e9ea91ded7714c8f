import { z } from 'zod';
import type { SettingsView } from '../../core/views/setting-view.ts';

export const SettingsAnswer = z.looseObject({
  version: z.string().describe('Of Longshore.'),
  settings: z
    .array(
      z.looseObject({
        name: z.string().describe('Of the environment variable.'),
        value: z.union([z.string(), z.int()]).nullable(),
        meaning: z.string(),
      }),
    )
    .describe('How the process that answers was started, without secrets.'),
}) satisfies z.ZodType<SettingsView>;
