import { useNow } from '../runtime/clock.ts';
import { distance, fullMoment } from '../words/moment.ts';

/** A time relative to now; the tooltip has the absolute time. */
export function Moment({ at }: { at: string | null }) {
  const now = useNow();
  if (at === null) return <span className="soft">–</span>;
  return (
    <time dateTime={at} title={fullMoment(at)}>
      {distance(at, now)}
    </time>
  );
}
