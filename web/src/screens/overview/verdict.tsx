import { Icon } from '../../parts/icon.tsx';
import { PlaceLink } from '../../parts/place-link.tsx';
import { useNow } from '../../runtime/clock.ts';
import { plainText } from '../../words/jobs/log-tail.ts';
import { quietWords } from '../../words/alerts/throughput.ts';
import { troubles } from '../../words/alerts/troubles.ts';
import type { Overview } from './use-overview.ts';

/** The one line for who was woken at night, and below it what it means. */
export function Verdict({ overview }: { overview: Overview }) {
  const now = useNow();
  const found = troubles({ ...overview, failures: overview.failures.groups }, now);
  if (found.length === 0) {
    return (
      <div className="verdict verdict-good">
        <p className="verdict-line">
          <Icon name="check" />
          All quiet
        </p>
        <p className="soft">{quietWords(overview.stats.throughput)}</p>
      </div>
    );
  }
  return (
    <div className="verdict verdict-bad">
      <p className="verdict-line">
        <Icon name="alert" />
        {found.length === 1 ? '1 issue needs attention' : `${found.length} issues need attention`}
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
