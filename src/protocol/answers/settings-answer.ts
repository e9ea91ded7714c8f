import { z } from 'zod';
import type { SettingsView } from '../../core/views/setting-view.ts';

export const SettingsAnswer = z.looseObject({
  version: z.string().describe('Version of Longshore.'),
  settings: z
    .array(
      z.looseObject({
        name: z.string().describe('Name of the environment variable.'),
        value: z.union([z.string(), z.int()]).nullable(),
        isDefault: z.boolean().describe('Whether it has its default.'),
        meaning: z.string(),
      }),
    )
    .describe('Settings of the responding process, without secrets.'),
}) satisfies z.ZodType<SettingsView>;
