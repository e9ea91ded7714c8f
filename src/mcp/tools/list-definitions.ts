import type { DefinitionStats, PublishedDefinition } from '../../client/index.ts';
import { newestVersions } from '../../core/definition/owners.ts';
import { JOB_STATES } from '../../core/job/job.ts';
import { rangeText } from '../../core/series/histogram.ts';
import { closed, definitionKey, text } from '../../protocol/fields.ts';
import { findDefinition } from '../find.ts';
import { tool } from '../tool.ts';
import { clamp, clampJson } from '../text/clamp.ts';
import { type Facts, facts } from '../text/facts.ts';

const ROWS_MAX = 50;
const ABOUT_MAX = 200;
const SCHEMA_MAX = 8_000;

export const listDefinitions = tool({
  name: 'list_definitions',
  title: 'Definitions',
  description:
    'Lists the definitions of jobs with owner, purpose and numbers of jobs; with definition, one ' +
    'of them with the JSON Schema of its params, how long its jobs wait and run, policies, limits ' +
    'and schedules. Read the schema before you enqueue a job.',
  scope: 'jobs:read',
  effect: 'reads',
  idempotent: true,
  input: closed({
    definition: definitionKey().optional().describe('The key of one definition.'),
    contains: text(200).optional().describe('Only keys with this text.'),
  }),
  run: async ({ definition, contains = '' }, { client }) => {
    const [definitions, stats] = await Promise.all([
      client.definitions(),
      client.stats({ seriesMinutes: 1 }),
    ]);
    const statsOf = (key: string) => stats.definitions.find((one) => one.key === key);
    if (definition !== undefined) {
      return wholeOf(findDefinition(definitions, definition), statsOf(definition));
    }
    const found = newestVersions(definitions).filter(({ key }) => key.includes(contains));
    const more = found.length - ROWS_MAX;
    return facts({
      none: found.length === 0 ? 'No definition matches.' : null,
      definitions: found.slice(0, ROWS_MAX).map((one) => rowOf(one, statsOf(one.key))),
      more: more > 0 ? `${more} more: narrow the list with contains.` : null,
    });
  },
});

function rowOf(
  { key, owner, description, paramsSchema, paused }: PublishedDefinition,
  stats: DefinitionStats | undefined,
): Facts {
  return facts({
    definition: key,
    owner,
    about: clamp(description ?? '', ABOUT_MAX),
    jobs: countsOf(stats),
    hasSchema: paramsSchema === null ? null : true,
    paused: paused === null ? null : true,
  });
}

function countsOf(stats: DefinitionStats | undefined): string {
  if (!stats) return '';
  const { states } = stats;
  return JOB_STATES.filter((state) => states[state] > 0)
    .map((state) => `${states[state]} ${state}`)
    .join(', ');
}

function lastHour(stats: DefinitionStats | undefined): Facts | null {
  if (!stats || stats.successRate === null) return null;
  const { waitMs, runMs, failureRate, retries } = stats;
  const spread = ({ p50, p95 }: DefinitionStats['runMs']) =>
    p50 && p95 && `p50 ${rangeText(p50)}, p95 ${rangeText(p95)}`;
  return facts({
    failed: `${Math.round((failureRate ?? 0) * 100)} %`,
    retries,
    waited: spread(waitMs),
    ran: spread(runMs),
  });
}

function wholeOf(one: PublishedDefinition, stats: DefinitionStats | undefined): Facts {
  const { effective, inUse } = one.limits;
  return facts({
    definition: one.key,
    version: one.version,
    owner: one.owner,
    about: one.description,
    runbook: one.runbookUrl,
    jobs: countsOf(stats),
    lastHour: lastHour(stats),
    maxAttempts: one.maxAttempts,
    timeoutSeconds: one.timeoutSeconds,
    isolation: one.isolation,
    memoryMb: one.memoryMb,
    limits: facts({ ...effective, inUse }),
    paused: one.paused === null ? null : facts({ ...one.paused }),
    schedules: one.schedules.map(({ name, cron, timezone }) => `${name}: ${cron} ${timezone}`),
    paramsSchema: clampJson(one.paramsSchema, SCHEMA_MAX),
  });
}
