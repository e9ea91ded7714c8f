import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { REMOVED_FROM_CODE, type ScheduleView } from '../../../../src/core/schedule/schedule.ts';
import { call } from '../../api/call.ts';
import { useAsked, useChange } from '../../api/use-change.ts';
import { useMay } from '../../api/use-may.ts';
import { AskButton } from '../../parts/ask.tsx';
import { Icon } from '../../parts/icon.tsx';
import { nameOf } from '../../../../src/core/problems/problems.ts';

/** Run, pause and resume, in a row of the list. */
export function ScheduleActions({ schedule }: { schedule: ScheduleView }) {
  const navigate = useNavigate();
  const trigger = useChange(
    async () => await call<{ jobId: string }>('POST', `/v1/schedules/${schedule.id}/trigger`),
    ({ jobId }) => {
      void navigate({ to: '/jobs/$jobId', params: { jobId } });
      return `${nameOf(schedule)} enqueued a job.`;
    },
  );
  if (!useMay('operate')) return null;
  return (
    <>
      <button
        type="button"
        className="small"
        disabled={trigger.isPending}
        onClick={() => trigger.mutate(undefined)}
      >
        <Icon name="play" />
        Run now
      </button>
      {schedule.enabled ? (
        <PauseButton schedule={schedule} />
      ) : (
        <ResumeButton schedule={schedule} />
      )}
    </>
  );
}

/** Of the page of a schedule: also edit and delete, which code schedules leave to the code. */
export function AllScheduleActions({ schedule }: { schedule: ScheduleView }) {
  const may = useMay('operate');
  const gone = schedule.note?.startsWith(REMOVED_FROM_CODE) ?? false;
  return (
    <>
      <ScheduleActions schedule={schedule} />
      {may && schedule.source === 'api' && (
        <Link
          to="/schedules/$scheduleId/edit"
          params={{ scheduleId: schedule.id }}
          className="button small"
        >
          Edit
        </Link>
      )}
      {may && (schedule.source === 'api' || gone) && <DeleteButton schedule={schedule} />}
    </>
  );
}

function PauseButton({ schedule }: { schedule: ScheduleView }) {
  const [reason, setReason] = useState('');
  const name = nameOf(schedule);
  const pause = useAsked(
    async () =>
      await call<ScheduleView>('POST', `/v1/schedules/${schedule.id}/pause`, {
        body: { reason: reason.trim() || null },
      }),
    () => `${name} paused.`,
  );
  return (
    <AskButton
      label={
        <>
          <Icon name="pause" />
          Pause…
        </>
      }
      className="small"
      title={`Pause ${name}?`}
      confirm="Pause schedule"
      onConfirm={() => pause(undefined)}
    >
      <p>No slot fires until it is resumed. Runs missed meanwhile are not caught up.</p>
      <label className="field">
        <span>Reason (shown to others)</span>
        <input value={reason} maxLength={500} onChange={(event) => setReason(event.target.value)} />
      </label>
    </AskButton>
  );
}

function ResumeButton({ schedule }: { schedule: ScheduleView }) {
  const resume = useChange(
    async () => await call<ScheduleView>('POST', `/v1/schedules/${schedule.id}/resume`),
    () => `${nameOf(schedule)} resumed.`,
  );
  return (
    <button type="button" className="small" onClick={() => resume.mutate(undefined)}>
      <Icon name="resume" />
      Resume
    </button>
  );
}

function DeleteButton({ schedule }: { schedule: ScheduleView }) {
  const navigate = useNavigate();
  const name = nameOf(schedule);
  const remove = useAsked(
    async () => await call<null>('DELETE', `/v1/schedules/${schedule.id}`),
    () => {
      void navigate({ to: '/schedules' });
      return `${name} deleted.`;
    },
  );
  return (
    <AskButton
      label="Delete…"
      className="small danger"
      title={`Delete ${name}?`}
      confirm="Delete schedule"
      onConfirm={() => remove(undefined)}
    >
      <p>Its slots are deleted too. Its jobs are kept. This can’t be undone.</p>
    </AskButton>
  );
}
