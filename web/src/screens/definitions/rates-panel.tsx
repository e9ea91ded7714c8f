import { duration } from '../../../../src/core/duration.ts';
import { useStats } from '../../api/signal-queries.ts';
import { Facts, Panel } from '../../parts/panel.tsx';
import { quantileWords, rateWords } from '../../words/throughput.ts';

/** Is it healthy: how much it has to do, how often it fails, how long it takes. */
export function RatesPanel({ definitionKey }: { definitionKey: string }) {
  const stats = useStats();
  const rates = stats?.definitions.find(({ key }) => key === definitionKey);
  if (!stats || !rates) return null;
  return (
    <Panel title="Rates" aside={`of the last ${stats.windowMinutes} minutes`}>
      <Facts
        facts={[
          ['Queued', rates.depth.toLocaleString('en')],
          ['Oldest waits', rates.oldestAgeMs === null ? null : duration(rates.oldestAgeMs)],
          ['Running', rates.running.toLocaleString('en')],
          ['Succeeds', rateWords(rates.successRate)],
          ['Fails', rateWords(rates.failureRate)],
          ['Retries', rates.retries.toLocaleString('en')],
          ['Waits', quantileWords(rates.waitMs)],
          ['Takes', quantileWords(rates.runMs)],
        ]}
      />
    </Panel>
  );
}
