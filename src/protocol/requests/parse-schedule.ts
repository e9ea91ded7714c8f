import { checkParams } from '../../core/job/params.ts';
import { isRecord } from '../../core/values/record.ts';
import { SCHEDULE_DEFAULTS, type ScheduleSpec } from '../../core/schedule/schedule.ts';
import { Findings } from '../findings.ts';
import { ScheduleBody, SchedulePatch } from './schedule-body.ts';
import { violations } from '../violations.ts';

export interface ScheduleRequest {
  spec: ScheduleSpec;
  /** Null: what the server does by default. */
  requireRegistered: boolean | null;
}

/** Parses `POST /v1/schedules`. Whether it can ever run is checked later. Throws a `Refusal`. */
export function parseSchedule(body: unknown): ScheduleRequest {
  const findings = new Findings();
  const shape = ScheduleBody.safeParse(body);
  if (!shape.success) findings.add('VALIDATION_FAILED', ...violations(shape.error.issues, 'field'));
  const params = readParams(body, findings);
  if (!shape.success || findings.any) throw findings.refusal();
  const { requireRegistered = null, definitionKey, cron, ...fields } = shape.data;
  const spec = {
    ...SCHEDULE_DEFAULTS,
    name: null,
    paramsJson: '{}',
    ...given(fields),
    ...params,
    definitionKey,
    cron,
  };
  return { spec, requireRegistered };
}

/** Parses a PATCH: only the given fields. Throws a `Refusal`. */
export function parseSchedulePatch(body: unknown): Partial<ScheduleSpec> {
  const findings = new Findings();
  const { definitionKey, ...rest } = fieldsOf(body);
  if (definitionKey !== undefined) {
    const detail = 'cannot be changed: create another schedule and delete this one';
    findings.add('VALIDATION_FAILED', { pointer: '/definitionKey', detail });
  }
  const shape = SchedulePatch.safeParse(isRecord(body) ? rest : body);
  if (!shape.success) findings.add('VALIDATION_FAILED', ...violations(shape.error.issues, 'field'));
  const params = readParams(body, findings);
  if (!shape.success || findings.any) throw findings.refusal();
  return { ...given(shape.data), ...params };
}

/** Without undefined fields, which must not overwrite defaults. */
function given(data: SchedulePatch): Partial<ScheduleSpec> {
  const { params: _params, ...fields } = data;
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function readParams(body: unknown, findings: Findings): { paramsJson?: string } {
  const { params } = fieldsOf(body);
  if (params === undefined) return {};
  const checked = checkParams(params);
  if (checked.ok) return { paramsJson: checked.json };
  const { code, pointer, detail } = checked;
  findings.add(code, { pointer: `/params${pointer}`, detail });
  return {};
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
