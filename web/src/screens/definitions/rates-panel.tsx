import { duration } from '../../../../src/core/values/duration.ts';
import { useStats } from '../../api/signal-queries.ts';
import { Facts, Panel } from '../../parts/panel.tsx';
import { clockTime } from '../../words/moment.ts';
import { quantileWords, rateWords } from '../../words/alerts/throughput.ts';

export function RatesPanel({ definitionKey }: { definitionKey: string }) {
  const stats = useStats();
  const rates = stats?.definitions.find(({ key }) => key === definitionKey);
  if (!stats || !rates) return null;
  return (
    <Panel title="Rates" aside={`since ${clockTime(stats.windowFrom).slice(0, 5)}`}>
      <Facts
        facts={[
          ['Queued', rates.depth.toLocaleString('en')],
          ['Oldest queued', rates.oldestAgeMs === null ? null : duration(rates.oldestAgeMs)],
          ['Running', rates.running.toLocaleString('en')],
          ['Success rate', rateWords(rates.successRate)],
          ['Failure rate', rateWords(rates.failureRate)],
          ['Retries', rates.retries.toLocaleString('en')],
          ['Queue time p50 / p95', quantileWords(rates.waitMs)],
          ['Duration p50 / p95', quantileWords(rates.runMs)],
        ]}
      />
    </Panel>
  );
}
