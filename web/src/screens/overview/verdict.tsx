import { Icon } from '../../parts/icon.tsx';
import { TargetLink } from '../../parts/target-link.tsx';
import { useNow } from '../../runtime/clock.ts';
import { plainText } from '../../words/jobs/log-tail.ts';
import { quietWords } from '../../words/alerts/throughput.ts';
import { problemsOf } from '../../../../src/core/problems/problems.ts';
import type { Overview } from './use-overview.ts';

/** Overall status in one line, and the list of problems. */
export function Verdict({ overview }: { overview: Overview }) {
  const now = useNow();
  const found = problemsOf({ ...overview, failures: overview.failures.groups }, now);
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
        {found.map(({ about, text, owner, target }, index) => (
          <li key={index}>
            <TargetLink target={target} title={plainText(text)}>
              {about !== null && (
                <>
                  <strong>{plainText(about)}</strong>{' '}
                </>
              )}
              {plainText(text)}
            </TargetLink>
            {owner !== null && <span className="owner">{owner}</span>}
            <Icon name="next" />
          </li>
        ))}
      </ul>
    </div>
  );
}
