import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, type ReactNode, useId, useState } from 'react';
import type { PublishedDefinition } from '../../../../src/client/job.ts';
import type { ScheduleView } from '../../../../src/core/schedule/schedule.ts';
import { call } from '../../api/call.ts';
import { useChange } from '../../api/use-change.ts';
import { Panel } from '../../parts/panel.tsx';
import {
  bodyOf,
  draftOf,
  fieldOf,
  POLICY_WORDS,
  type ScheduleDraft,
} from '../../words/queues/schedule-draft.ts';
import { shownZone } from '../../words/zone.ts';
import { nameOf } from '../../../../src/core/problems/problems.ts';
import {
  Complaints,
  ParamsInput,
  SwitchMode,
  useParamsDraft,
  type Wrong,
  wrongOf,
  wrongParams,
} from '../definitions/params-input.tsx';
import { CronPreview } from './cron-preview.tsx';
import { SelectField, TextField } from './form-fields.tsx';

const ZONES = ['UTC', ...Intl.supportedValuesOf('timeZone')];

/** Creates a schedule of a definition, or changes one. */
export function ScheduleForm({
  definitionKey,
  definition,
  schedule,
  children,
}: {
  definitionKey: string;
  /** Undefined while no worker has registered it: then its params are JSON. */
  definition: PublishedDefinition | undefined;
  schedule: ScheduleView | null;
  /** Shown above the fields. */
  children?: ReactNode;
}) {
  const navigate = useNavigate();
  const zones = useId();
  const before = schedule && draftOf(schedule, shownZone());
  const [draft, setDraft] = useState<ScheduleDraft>(() => draftOf(schedule, shownZone()));
  const params = useParamsDraft(definition?.paramsSchema ?? null, schedule?.params);
  const [wrong, setWrong] = useState<Wrong>({});
  const set = (change: Partial<ScheduleDraft>) => setDraft((now) => ({ ...now, ...change }));
  const save = useChange(
    async (body: object) =>
      schedule === null
        ? await call<ScheduleView>('POST', '/v1/schedules', { body: { definitionKey, ...body } })
        : await call<ScheduleView>('PATCH', `/v1/schedules/${schedule.id}`, { body }),
    (saved) => {
      void navigate({ to: '/schedules/$scheduleId', params: { scheduleId: saved.id } });
      return `${nameOf(saved)} ${schedule === null ? 'created' : 'saved'}.`;
    },
    { inForm: true },
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const read = bodyOf(draft, before);
    if ('wrong' in read) return setWrong({ [`/${read.field}`]: read.wrong });
    const typed = params.read();
    const unchanged = schedule !== null && sameParams(typed, schedule.params);
    // Params that the server redacts cannot be sent back, so unchanged ones are left out.
    if (!unchanged && 'wrong' in typed)
      return setWrong({ [`/params${typed.pointer}`]: typed.wrong });
    setWrong({});
    const body = { ...read.body, ...(!unchanged && 'params' in typed && { params: typed.params }) };
    save.mutate(body, { onError: (error) => setWrong(wrongOf(error)) });
  };
  const ofParams = Object.entries(wrong).filter(([pointer]) => pointer.startsWith('/params'));
  const others = Object.entries(wrong).filter(([pointer]) => !pointer.startsWith('/params'));
  const wrongFields = Object.fromEntries(
    others.map(([pointer, detail]) => [pointer === '' ? '' : fieldOf(pointer), detail]),
  );
  const field = (name: keyof ScheduleDraft) => ({
    value: draft[name],
    wrong: wrongFields[name],
    onChange: (value: string) => set({ [name]: value }),
  });
  return (
    <form className="form-stack" onSubmit={submit} noValidate>
      <Panel title="When">
        <div className="run">
          {children}
          <TextField
            label="Name"
            about="Unique for the definition; may be empty."
            {...field('name')}
          />
          <TextField
            label="Cron expression"
            mono
            {...field('cron')}
            about="Minute, hour, day of month, month, weekday; six fields begin with seconds; or @daily."
          />
          <TextField
            label="Time zone"
            list={zones}
            {...field('timezone')}
            about="An IANA name, such as Europe/Berlin."
          />
          <datalist id={zones}>
            {ZONES.map((zone) => (
              <option key={zone} value={zone} />
            ))}
          </datalist>
          <CronPreview draft={draft} />
        </div>
      </Panel>
      <Panel title="Params" aside={<SwitchMode draft={params} />}>
        <div className="run">
          <ParamsInput draft={params} wrong={wrongParams(Object.fromEntries(ofParams))} />
        </div>
      </Panel>
      <Panel title="Policies">
        <div className="run">
          <SelectField
            label="While an earlier job runs"
            words={POLICY_WORDS.overlap}
            {...field('overlap')}
          />
          <SelectField
            label="Runs missed while no scheduler ran"
            words={POLICY_WORDS.catchUp}
            {...field('catchUp')}
          />
          {draft.catchUp !== 'none' && (
            <TextField label="Catch up runs of the last (hours)" {...field('catchUpHours')} />
          )}
          {draft.catchUp === 'all' && (
            <TextField label="Catch up at most (runs)" {...field('catchUpMax')} />
          )}
          <SelectField
            label="DST gap"
            about="The local time does not exist."
            words={POLICY_WORDS.dstGap}
            {...field('dstGap')}
          />
          <SelectField
            label="DST repeat"
            about="The local time comes twice."
            words={POLICY_WORDS.dstRepeat}
            {...field('dstRepeat')}
          />
          <TextField
            label="Jitter (seconds)"
            about="Random delay of each job, up to this."
            {...field('jitterSeconds')}
          />
          <TextField label="Priority" {...field('priority')} />
          <TextField
            label="No run before"
            kind="datetime-local"
            about={`In ${shownZone()}; may be empty.`}
            {...field('startAt')}
          />
          <TextField
            label="No run from then on"
            kind="datetime-local"
            about={`In ${shownZone()}; may be empty.`}
            {...field('endAt')}
          />
        </div>
      </Panel>
      <Complaints wrong={wrongFields} known={Object.keys(draft)} />
      <div className="run-foot">
        <button type="submit" className="primary" disabled={save.isPending}>
          {schedule === null ? 'Create schedule' : 'Save'}
        </button>
      </div>
    </form>
  );
}

function sameParams(typed: { params: unknown } | object, before: unknown): boolean {
  return 'params' in typed ? JSON.stringify(typed.params) === JSON.stringify(before) : false;
}
