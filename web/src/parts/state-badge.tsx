import type { JobState } from '../../../src/core/job/job.ts';
import { Icon, type IconName } from './icon.tsx';

const ICONS: Record<JobState, IconName> = {
  created: 'hold',
  scheduled: 'clock',
  suspended: 'hold',
  queued: 'dots',
  running: 'play',
  retrying: 'retry',
  cancelling: 'stop',
  succeeded: 'check',
  failed: 'cross',
  cancelled: 'stop',
};

/** A state as text, icon and colour: each is sufficient alone. */
export function StateBadge({ state }: { state: JobState }) {
  return (
    <span className={`badge state-${state}`}>
      <Icon name={ICONS[state]} />
      {state === 'created' ? 'held' : state}
    </span>
  );
}
