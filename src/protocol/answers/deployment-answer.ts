import { z } from 'zod';
import {
  DEPLOYMENT_STATUSES,
  type DeployedView,
  type DeploymentDetail,
  type DeploymentView,
  type DifferenceView,
  type ReleaseView,
} from '../../core/deployment/deployment-view.ts';
import { RELEASE_ACTIONS, type ReleaseChangeView } from '../../core/deployment/release-change.ts';

const Moment = z.iso.datetime();
const keys = z.array(z.string());

export const ArtifactAnswer = z
  .looseObject({
    artifactId: z.string().describe('SHA-256 of the archive.'),
    format: z.enum(['tar.gz', 'zip']),
    bytes: z.int().describe('Size of the archive.'),
    definitions: keys.describe('Definitions of its manifest; empty without a manifest.'),
    createdBy: z.string(),
    createdAt: Moment,
  })
  .meta({ id: 'Artifact', description: 'An uploaded archive with code.' });

const deployment = {
  number: z.int().describe('Its number, which is the version of its definitions.'),
  artifactId: z.string().describe('SHA-256 of its archive.'),
  bytes: z.int().describe('Size of the archive.'),
  status: z
    .enum(DEPLOYMENT_STATUSES)
    .describe('current: new jobs of at least one definition get it.'),
  definitions: keys.describe('Its definitions.'),
  currentFor: keys.describe('Definitions whose new jobs get it.'),
  canaryFor: keys.describe('Definitions of which it is the canary.'),
  canaryPercent: z.number().nullable().describe('Share of new jobs that get the canary.'),
  note: z.string().nullable(),
  revision: z.string().nullable().describe('Revision of the code, such as a commit.'),
  createdBy: z.string(),
  createdAt: Moment,
  retiredAt: Moment.nullable(),
};

export const DeploymentAnswer = z.looseObject(deployment).meta({
  id: 'Deployment',
  description: 'Immutable code of definitions.',
}) satisfies z.ZodType<DeploymentView>;

const VersionJobs = z.looseObject({
  version: z.int(),
  waiting: z.int().describe('Jobs that are held, scheduled, queued or between two attempts.'),
  running: z.int(),
  succeeded: z.int().describe('Since it was deployed, with jobs that were deleted since.'),
  failed: z.int(),
  attempts: z.int().describe('Attempts that ended.'),
  failedAttempts: z.int(),
  failureRate: z.number().nullable().describe('Share of attempts that failed, from 0 to 1.'),
});

export const DeploymentDetailAnswer = z.looseObject({
  ...deployment,
  jobs: z
    .array(
      z.looseObject({
        key: z.string(),
        now: VersionJobs.describe('With this deployment.'),
        before: VersionJobs.nullable().describe('With the version before; null if there is none.'),
        worse: z
          .string()
          .nullable()
          .describe('Why attempts fail clearly more often than before; null if they do not.'),
      }),
    )
    .describe('By definition. Of all tenants, if the definitions are for all tenants.'),
}) satisfies z.ZodType<DeploymentDetail>;

const Change = z.looseObject({
  key: z.string(),
  change: z
    .enum(['added', 'changed', 'unchanged', 'removed'])
    .describe('removed: the deployment lacks it, and new jobs still get the old one.'),
  fields: z.array(z.string()).describe('Fields with other values.'),
});

const SchemaCheckAnswer = z
  .looseObject({
    key: z.string(),
    jobsChecked: z.int().describe('Scheduled and held jobs, which will get this version.'),
    jobsRejected: z.int().describe('Jobs that would fail with PAYLOAD_INVALID.'),
    schedulesChecked: z.int(),
    schedulesRejected: z.int(),
    unreadable: z.int().describe('Encrypted with a key that the server does not have.'),
    isPartial: z.boolean().describe('More wait than were checked.'),
    misfits: z
      .array(
        z.looseObject({
          kind: z.enum(['job', 'schedule']),
          id: z.string(),
          reason: z.string(),
        }),
      )
      .describe('The first that do not fit, of the own tenant.'),
  })
  .meta({
    id: 'SchemaCheck',
    description: 'Which waiting jobs and schedules the new schema of a definition would reject.',
  });

export const DiffAnswer = z.looseObject({
  changes: z.array(Change),
  schemaChecks: z.array(SchemaCheckAnswer).describe('Of definitions with a new schema.'),
}) satisfies z.ZodType<DifferenceView>;

export const DeployedAnswer = z.looseObject({
  ...deployment,
  changes: z.array(Change).describe('Compared with what new jobs got before.'),
  schemaChecks: z.array(SchemaCheckAnswer).describe('Of definitions with a new schema.'),
}) satisfies z.ZodType<DeployedView>;

export const DeploymentsAnswer = z.looseObject({ deployments: z.array(DeploymentAnswer) });

const ReleaseAnswer = z
  .looseObject({
    tenant: z.string().describe('Owner; definitions of the tenant default are for all tenants.'),
    key: z.string(),
    current: z.int().describe('The deployment that new jobs get.'),
    previous: z.int().nullable().describe('The deployment of a rollback.'),
    canary: z.int().nullable(),
    canaryPercent: z.number().nullable().describe('Share of new jobs that get the canary.'),
    changedBy: z.string(),
    changedAt: Moment,
    reason: z.string().nullable(),
  })
  .meta({
    id: 'Release',
    description: 'Which deployment the new jobs of a definition get.',
  }) satisfies z.ZodType<ReleaseView>;

const ReleaseChangeAnswer = z
  .looseObject({
    at: Moment,
    action: z
      .enum(RELEASE_ACTIONS)
      .describe('promote, rollback and canary: what new jobs get since then.'),
    deployment: z.int().describe('Number of the deployment.'),
    definitions: keys,
    canaryPercent: z.number().nullable().describe('Share of new jobs that get the canary.'),
    by: z.string(),
    reason: z.string().nullable(),
  })
  .meta({
    id: 'ReleaseChange',
    description: 'A change of what new jobs get.',
  }) satisfies z.ZodType<ReleaseChangeView>;

export const ReleaseChangesAnswer = z.looseObject({ changes: z.array(ReleaseChangeAnswer) });

export const ReleasesAnswer = z.looseObject({ releases: z.array(ReleaseAnswer) });
