import { Icon } from '../../parts/icon.tsx';
import { PlaceLink } from '../../parts/place-link.tsx';
import { useNow } from '../../runtime/clock.ts';
import { plainText } from '../../words/log-tail.ts';
import { troubles } from '../../words/troubles.ts';
import type { Overview } from './use-overview.ts';

/** The one line for who was woken at night, and below it what it means. */
export function Verdict({ overview }: { overview: Overview }) {
  const now = useNow();
  const found = troubles(
    {
      ...overview,
      failures: overview.failures.groups,
      queued: overview.queued.jobs,
      running: overview.running.jobs,
      depths: overview.stats?.definitions ?? [],
    },
    now,
  );
  if (found.length === 0) {
    return (
      <div className="verdict verdict-good">
        <p className="verdict-line">
          <Icon name="check" />
          All quiet
        </p>
        <p className="soft">Nothing has failed in 24 hours, nothing waits for long.</p>
      </div>
    );
  }
  return (
    <div className="verdict verdict-bad">
      <p className="verdict-line">
        <Icon name="alert" />
        {found.length === 1 ? '1 thing needs you' : `${found.length} things need you`}
      </p>
      <ul>
        {found.map(({ text, owner, place }, index) => (
          <li key={index}>
            <PlaceLink place={place} title={plainText(text)}>
              {plainText(text)}
            </PlaceLink>
            {owner !== null && <span className="owner">{owner}</span>}
            <Icon name="next" />
          </li>
        ))}
      </ul>
    </div>
  );
}
