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
    <div className="above facts-row">
      <Panel title="Rates" aside={`since ${clockTime(stats.windowFrom).slice(0, 5)}`}>
        <Facts
          facts={[
            ['Queued', rates.depth.toLocaleString('en')],
            ['Oldest queued', rates.oldestAgeMs === null ? null : duration(rates.oldestAgeMs)],
            ['Running', rates.running.toLocaleString('en')],
            ['Success rate', ofEnds(rates.successRate)],
            ['Failure rate', ofEnds(rates.failureRate)],
            ['Retries', rates.retries.toLocaleString('en')],
            ['Queue time p50 / p95', quantileWords(rates.waitMs)],
            ['Run time p50 / p95', quantileWords(rates.runMs)],
          ]}
        />
      </Panel>
    </div>
  );
}

/** A job that fails, is retried by hand and succeeds counts twice. */
function ofEnds(rate: number | null): string {
  return rate === null ? rateWords(rate) : `${rateWords(rate)} of jobs that ended`;
}
