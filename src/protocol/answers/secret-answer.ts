import { z } from 'zod';
import type { SecretView } from '../../core/access/secret.ts';

const Moment = z.iso.datetime();

export const SecretAnswer = z
  .looseObject({
    name: z.string().describe('Name of the environment variable.'),
    definitionKey: z
      .string()
      .nullable()
      .describe('The definition whose jobs get it; null: all of the tenant.'),
    createdAt: Moment,
    updatedAt: Moment.describe('When its value was set.'),
    updatedBy: z.string().describe('Who set its value.'),
  })
  .meta({
    id: 'Secret',
    description: 'A secret of jobs, without its value.',
  }) satisfies z.ZodType<SecretView>;

export const SecretsAnswer = z.looseObject({ secrets: z.array(SecretAnswer) });
