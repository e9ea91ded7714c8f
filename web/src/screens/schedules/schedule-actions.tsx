import { useNavigate } from '@tanstack/react-router';
import type { ScheduleView } from '../../../../src/core/schedule/schedule.ts';
import { call } from '../../api/call.ts';
import { useChange } from '../../api/use-change.ts';
import { useMay } from '../../api/use-may.ts';
import { Icon } from '../../parts/icon.tsx';
import { nameOf } from '../../words/alerts/troubles.ts';

/** Pausing needs no confirmation: the same button resumes. */
export function ScheduleActions({ schedule }: { schedule: ScheduleView }) {
  const navigate = useNavigate();
  const name = nameOf(schedule);
  const post = async <T,>(verb: string) =>
    await call<T>('POST', `/v1/schedules/${schedule.id}/${verb}`);
  const pause = useChange(
    async () => await post<ScheduleView>(schedule.enabled ? 'pause' : 'resume'),
    ({ enabled }) => (enabled ? `${name} resumed.` : `${name} paused.`),
  );
  const trigger = useChange(
    async () => await post<{ jobId: string }>('trigger'),
    ({ jobId }) => {
      void navigate({ to: '/jobs/$jobId', params: { jobId } });
      return `${name} enqueued a job.`;
    },
  );
  if (!useMay('operate')) return null;
  return (
    <>
      <button type="button" className="small" onClick={() => trigger.mutate(undefined)}>
        <Icon name="play" />
        Run now
      </button>
      <button type="button" className="small" onClick={() => pause.mutate(undefined)}>
        <Icon name={schedule.enabled ? 'pause' : 'retry'} />
        {schedule.enabled ? 'Pause' : 'Resume'}
      </button>
    </>
  );
}
