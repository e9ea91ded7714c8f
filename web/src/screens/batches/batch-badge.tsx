import type { BatchStatus } from '../../../../src/core/batch/batch.ts';
import { Icon } from '../../parts/icon.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';

export function BatchBadge({ status }: { status: BatchStatus }) {
  if (status !== 'open') return <StateBadge state={status} />;
  return (
    <span className="badge tone-later">
      <Icon name="dots" />
      open
    </span>
  );
}
