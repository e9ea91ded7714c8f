import { z } from 'zod';
import {
  SECRET_BYTES_MAX,
  SECRET_NAME_RULE,
  secretNameProblem,
  secretValueProblem,
} from '../../core/access/secret.ts';
import { closed, definitionKey, says } from '../fields.ts';

const FOR = 'Only for jobs of this definition. Default: all definitions of the tenant.';
const VALUE_RULE = `must be text of 1 to ${SECRET_BYTES_MAX} bytes`;

/** Body of `PUT /v1/secrets/{name}`. */
export const SecretBody = closed({
  value: z
    .string(says(VALUE_RULE))
    .superRefine((value, { addIssue }) => {
      const problem = secretValueProblem(value, new TextEncoder().encode(value).length);
      if (problem !== null) addIssue(problem);
    })
    .describe('The value. No answer contains it.'),
  definitionKey: definitionKey()
    .nullable()
    .default(null)
    .meta({ description: FOR, examples: ['report'] }),
});

/** Query of `GET /v1/secrets`. */
export const SecretsQuery = closed({
  definitionKey: definitionKey().optional().describe('Only those that jobs of it get.'),
});

/** Query of `DELETE /v1/secrets/{name}`. */
export const SecretQuery = closed({
  definitionKey: definitionKey().optional().describe(FOR.replace('Only f', 'F')),
});

export const SecretParams = z.object({
  secretName: z
    .string(says(SECRET_NAME_RULE))
    .describe('The name of the secret, which is that of the environment variable.')
    .meta({ examples: ['API_TOKEN'] }),
});

/** The violation of a name; null when a secret can have it. */
export function secretNameViolation(name: string): { pointer: string; detail: string } | null {
  const detail = secretNameProblem(name);
  return detail === null ? null : { pointer: '/name', detail };
}
