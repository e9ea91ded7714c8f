import { z } from 'zod';
import { CRON_LENGTH_MAX } from '../../core/schedule/schedule.ts';
import { closed, definitionKey, flag, list, number, says, text, whole } from '../fields.ts';
import { wholeInQuery } from '../fields.ts';

const NUMBER_MAX = 2 ** 31 - 1;
const DEFINITIONS_MAX = 1_000;

const hash = says('must be the SHA-256 of an uploaded archive, 64 hexadecimal digits');
const artifactId = z
  .string(hash)
  .regex(/^[0-9a-f]{64}$/, hash)
  .meta({ description: 'The SHA-256 of the archive.', examples: ['9f86d081…'] });

const canaryPercent = number(0.01, 99)
  .nullable()
  .default(null)
  .describe('Only this share of the new jobs gets it. Default null: all.');

const reason = text(500).nullable().default(null).describe('Reason, shown to other users.');

const definitions = list(definitionKey(), 1, DEFINITIONS_MAX).nullable().default(null);

/** Body of `POST /v1/deployments`. */
export const DeploymentBody = closed({
  artifactId,
  note: text(500).nullable().default(null).describe('What it changes.'),
  revision: text(200).nullable().default(null).describe('Revision of the code, such as a commit.'),
  promote: flag().default(true).describe('False: new jobs do not get it before a promotion.'),
  canaryPercent,
});

/** Body of `POST /v1/releases`. */
export const ReleaseBody = closed({
  deployment: whole(1, NUMBER_MAX).describe('Number of the deployment that new jobs get.'),
  definitions: definitions.describe('Only these definitions. Default: all of the deployment.'),
  canaryPercent,
  reason,
});

/** Body of `POST /v1/releases/rollback`. */
export const RollbackBody = closed({
  definitions: definitions.describe(
    'Only these definitions. Default: those of the deployment that was released last.',
  ),
  reason,
});

/** Body of `POST /v1/definitions`. Other fields are those of a definition in a manifest. */
export const NewDefinitionBody = z.looseObject({
  key: definitionKey().describe('Key of the definition.'),
  artifactId,
  entrypoint: z
    .union([z.string(), z.array(z.string()), z.looseObject({})], says('must be like "main:run"'))
    .describe('`module:export` for Node; a list of texts for a program in any language.')
    .meta({ examples: ['main:run'] }),
  runtime: z
    .enum(['node', 'command'], says('must be node or command'))
    .optional()
    .describe('How the entrypoint is read. Default: command for a list, else node.'),
  cron: text(CRON_LENGTH_MAX)
    .optional()
    .describe('Creates a schedule, too.')
    .meta({ examples: ['0 2 * * *'] }),
  timezone: text(64).optional().describe('Time zone of the schedule. Default UTC.'),
  params: z.unknown().optional().describe('Params of scheduled jobs. Default {}.'),
  note: text(500).nullable().default(null).describe('What it changes.'),
  revision: text(200).nullable().default(null).describe('Revision of the code.'),
});

export type NewDefinition = z.infer<typeof NewDefinitionBody>;

const signed = says('must be the id of a key, a colon and a signature in base64');

export const ArtifactParams = z.object({ artifactId });

export const DeploymentParams = z.object({
  number: wholeInQuery(1, NUMBER_MAX)
    .describe('Number of the deployment.')
    .meta({ examples: [7] }),
});

export const UploadQuery = z.strictObject({
  sha256: artifactId.optional().describe('The expected hash: another content is refused.'),
  signature: z
    .string(signed)
    .regex(/^[0-9a-f]{16}:[A-Za-z0-9+/]{86}==$/, signed)
    .optional()
    .describe('Id of the signing key, a colon, and the signature (Ed25519) in base64.'),
});

export const DeploymentsQuery = z.strictObject({
  before: wholeInQuery(1, 999_999_999)
    .optional()
    .describe('Only lower numbers, for the next page.'),
  limit: wholeInQuery(1, 200).default(50).describe('Entries per page.'),
});

export const DiffQuery = z.strictObject({
  against: wholeInQuery(1, 999_999_999)
    .optional()
    .describe('Compared with this deployment. Default: what new jobs get now.'),
});

export const ReleaseChangesQuery = z.strictObject({
  hours: wholeInQuery(1, 720).default(24).describe('How far back.'),
});
