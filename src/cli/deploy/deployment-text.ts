import { actorWords } from '../../core/identity/actor.ts';
import type {
  DefinitionChange,
  DefinitionJobs,
  Deployment,
  Difference,
  ReleaseChange,
  SchemaCheck,
  VersionJobs,
} from '../../client/deployments.ts';
import { releaseWords } from '../../core/deployment/release-change.ts';
import { isRejecting, schemaSentences } from '../../core/deployment/schema-check.ts';
import { columns } from '../text/columns.ts';
import { size } from '../text/size.ts';

const HEAD = ['NUMBER', 'STATUS', 'DEFINITIONS', 'SIZE', 'REVISION', 'CREATED', 'BY', 'NOTE'];

export function deploymentTable(deployments: readonly Deployment[], width: number): string[] {
  return columns([HEAD, ...deployments.map(rowOf)], width);
}

function rowOf(one: Deployment): string[] {
  const { number, definitions, bytes, revision, createdAt, createdBy, note } = one;
  const many = String(definitions.length);
  const at = createdAt.slice(0, 16).replace('T', ' ');
  const about = [
    many,
    size(bytes),
    revision?.slice(0, 12) ?? '-',
    at,
    actorWords(createdBy),
    note ?? '',
  ];
  return [String(number), statusOf(one), ...about];
}

function statusOf({ status, canaryPercent }: Deployment): string {
  return status === 'canary' ? `canary ${canaryPercent}%` : status;
}

/** One deployment, field by field. */
export function deploymentLines(one: Deployment): string[] {
  const { number, artifactId, currentFor, canaryFor, definitions, bytes } = one;
  const rows = [
    ['deployment', String(number)],
    ['status', statusOf(one)],
    ['definitions', definitions.join(', ')],
    ...(currentFor.length > 0 ? [['current for', currentFor.join(', ')]] : []),
    ...(canaryFor.length > 0 ? [['canary for', canaryFor.join(', ')]] : []),
    ['artifact', artifactId],
    ['size', size(bytes)],
    ['created', `${one.createdAt} by ${actorWords(one.createdBy)}`],
    ...(one.revision === null ? [] : [['revision', one.revision]]),
    ...(one.note === null ? [] : [['note', one.note]]),
    ...(one.retiredAt === null ? [] : [['retired', one.retiredAt]]),
  ];
  return columns(rows);
}

/** What was released when, by whom and why. */
export function releaseTable(changes: readonly ReleaseChange[], width: number): string[] {
  const rows = changes.map((one) => [
    one.at.slice(0, 16).replace('T', ' '),
    releaseWords(one),
    one.definitions.join(', '),
    actorWords(one.by),
    one.reason ?? '',
  ]);
  return columns([['AT', 'CHANGE', 'DEFINITIONS', 'BY', 'REASON'], ...rows], width);
}

const JOBS_HEAD = ['DEFINITION', 'VERSION', 'WAITING', 'RUNNING', 'SUCCEEDED', 'FAILED'];

/** What became of the jobs of a deployment, each definition followed by its version before. */
export function jobsLines(jobs: readonly DefinitionJobs[], width: number): string[] {
  const rows = jobs.flatMap(({ key, now, before }) => [
    jobsRow(key, String(now.version), now),
    ...(before ? [jobsRow('', `${before.version} (before)`, before)] : []),
  ]);
  const worse = jobs.flatMap(({ key, worse: why }) => (why === null ? [] : [`! ${key}: ${why}`]));
  return [...columns([[...JOBS_HEAD, 'FAILED ATTEMPTS'], ...rows], width), ...worse];
}

function jobsRow(key: string, version: string, of: VersionJobs): string[] {
  const { waiting, running, succeeded, failed, attempts, failedAttempts, failureRate } = of;
  const share = failureRate === null ? '-' : `${Math.round(1_000 * failureRate) / 10}%`;
  const rate = attempts === 0 ? share : `${share} (${failedAttempts} of ${attempts})`;
  return [key, version, ...[waiting, running, succeeded, failed].map(String), rate];
}

const MARKS = { added: '+', changed: '~', removed: '-', unchanged: ' ' } as const;

/** What a deployment changes, and what its schemas would reject. */
export function differenceLines({ changes, schemaChecks }: Difference): string[] {
  return [...changeLines(changes), ...schemaChecks.flatMap(schemaLines)];
}

/** What the new schema of a definition means for what waits; nothing if all of it fits. */
export function schemaLines(check: SchemaCheck): string[] {
  const { key, misfits } = check;
  const named = misfits.map(({ kind, id, reason }) => `    ${kind} ${id}: ${reason}`);
  return schemaSentences(check).flatMap((text, index) => [
    `! ${key}  ${text}`,
    ...(index === 0 && isRejecting(check) ? named : []),
  ]);
}

function changeLines(changes: readonly DefinitionChange[]): string[] {
  return changes.map(({ key, change, fields }) => {
    const words = {
      added: 'new',
      changed: fields.join(', '),
      removed: 'not in this deployment; new jobs still get the old one',
      unchanged: 'same rules',
    };
    return `${MARKS[change]} ${key}  ${words[change]}`;
  });
}

/** Who gets a deployment that was just released. */
export function releaseSentence({ number, canaryPercent }: Deployment): string {
  const whose = canaryPercent === null ? 'New jobs get' : `${canaryPercent}% of new jobs get`;
  return `${whose} deployment ${number}; queued jobs keep theirs.`;
}
