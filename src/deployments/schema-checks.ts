import type { DefinitionInfo } from '../core/definition/definition.ts';
import { CHECKED_MAX, MISFITS_SHOWN, type SchemaCheck } from '../core/deployment/schema-check.ts';
import { ParamsChecks } from '../params/params-checks.ts';
import { systemClock } from '../runtime/clock.ts';
import { Slices } from '../runtime/slices.ts';
import type { Db } from '../store/connection/db.ts';
import { readWaitingParams, type WaitingParams } from '../store/deployments/waiting-params.ts';

/**
 * Checks the params of waiting jobs and of schedules against the schemas of new definitions: jobs
 * that are scheduled or held get the new version when they become queued. Queued jobs keep theirs.
 */
export async function checkSchemas(
  db: Db,
  tenant: string,
  definitions: readonly DefinitionInfo[],
): Promise<SchemaCheck[]> {
  const checks: SchemaCheck[] = [];
  const judge = new ParamsChecks(systemClock);
  const slices = new Slices();
  let left = { jobs: CHECKED_MAX, schedules: CHECKED_MAX };
  for (const definition of definitions) {
    // One more tells whether there are more.
    const limits = { jobs: left.jobs + 1, schedules: left.schedules + 1 };
    const { found, isCut } = await readWaitingParams(db, tenant, definition.key, limits);
    const jobs = found.filter(({ kind }) => kind === 'job');
    const schedules = found.filter(({ kind }) => kind === 'schedule');
    const check = emptyCheck(definition.key);
    check.isPartial = isCut || jobs.length > left.jobs || schedules.length > left.schedules;
    for (const one of [...jobs.slice(0, left.jobs), ...schedules.slice(0, left.schedules)]) {
      judgeOne(check, definition, one, tenant, judge);
      if (slices.isOver) await slices.pause();
    }
    left = {
      jobs: left.jobs - Math.min(left.jobs, jobs.length),
      schedules: left.schedules - Math.min(left.schedules, schedules.length),
    };
    checks.push(check);
  }
  return checks;
}

function emptyCheck(key: string): SchemaCheck {
  return {
    key,
    jobsChecked: 0,
    jobsRejected: 0,
    schedulesChecked: 0,
    schedulesRejected: 0,
    unreadable: 0,
    isPartial: false,
    misfits: [],
  };
}

function judgeOne(
  check: SchemaCheck,
  { key, version, paramsSchema, paramsShape: current }: DefinitionInfo,
  { kind, id, tenant, paramsJson, paramsShape }: WaitingParams,
  own: string,
  judge: ParamsChecks,
): void {
  if (paramsJson === null) {
    check.unreadable += 1;
    return;
  }
  // Only the upgrade functions know what becomes of an older shape.
  if (paramsShape < current) return;
  const [first] = judge.violations({ key, version, publishedAt: '', paramsSchema }, paramsJson);
  const isJob = kind === 'job';
  if (isJob) check.jobsChecked += 1;
  else check.schedulesChecked += 1;
  if (!first) return;
  if (isJob) check.jobsRejected += 1;
  else check.schedulesRejected += 1;
  if (tenant !== own || check.misfits.length >= MISFITS_SHOWN) return;
  check.misfits.push({ kind, id, reason: `params${first.pointer}: ${first.detail}` });
}
