import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { duration } from '../../../../src/core/values/duration.ts';
import { definitionsQuery } from '../../api/queries.ts';
import { useStats } from '../../api/signal-queries.ts';
import { Moment } from '../../parts/moment.tsx';
import { Rows } from '../../parts/rows.tsx';
import { Empty, Screen, Waiting } from '../../parts/screen.tsx';
import { newestVersions, retryWords } from '../../words/queues/definition-words.ts';
import { limitsLine } from '../../words/queues/limit-words.ts';
import { plainText } from '../../words/jobs/log-tail.ts';
import { quantileWords, rateWords } from '../../words/alerts/throughput.ts';

export function DefinitionsScreen() {
  const { data: definitions, error } = useQuery(definitionsQuery());
  const stats = useStats();
  const rates = new Map(stats?.definitions.map((one) => [one.key, one]));
  return (
    <Screen title="Definitions">
      {definitions === undefined ? (
        <Waiting error={error} />
      ) : definitions.length === 0 ? (
        <Empty title="No worker has registered a definition yet.">
          <p>
            Put a file that calls defineJob into the jobs folder of a worker, and start the worker.
          </p>
        </Empty>
      ) : (
        <Rows
          caption="Definitions"
          rows={newestVersions(definitions)}
          keyOf={({ key }) => key}
          columns={[
            {
              title: 'Definition',
              titled: 'in-head',
              cell: ({ key, paused, description }) => (
                <>
                  <Link to="/definitions/$key" params={{ key }} className="row-link" data-row>
                    {key}
                  </Link>{' '}
                  {paused && <span className="badge tone-warn">paused</span>}
                  {description && <span className="about">{plainText(description)}</span>}
                </>
              ),
            },
            {
              title: 'Owner',
              kind: 'short',
              cell: ({ owner }) => owner ?? <span className="soft">–</span>,
            },
            stats !== null && {
              title: 'Queued',
              kind: 'number',
              cell: ({ key }) => (rates.get(key)?.depth ?? 0).toLocaleString('en'),
            },
            stats !== null && {
              title: 'Failure rate',
              kind: 'number',
              cell: ({ key }) => <FailureRate rate={rates.get(key)?.failureRate ?? null} />,
            },
            stats !== null && {
              title: 'Run time p50 / p95',
              kind: 'short',
              cell: ({ key }) => {
                const runMs = rates.get(key)?.runMs;
                return runMs ? quantileWords(runMs) : '–';
              },
            },
            {
              title: 'Attempts',
              spare: true,
              cell: (definition) => (
                <>
                  {definition.maxAttempts}
                  {definition.maxAttempts > 1 && (
                    <span className="about retries">{retryWords(definition)}</span>
                  )}
                </>
              ),
            },
            {
              title: 'Timeout',
              spare: true,
              kind: 'number',
              cell: ({ timeoutSeconds }) => duration(timeoutSeconds * 1_000),
            },
            {
              title: 'Limits',
              spare: true,
              cell: ({ limits }) => limitsLine(limits.effective) || <span className="soft">–</span>,
            },
            {
              title: 'Version',
              spare: true,
              kind: 'short',
              cell: ({ version, publishedAt }) => (
                <>
                  {version}
                  <span className="about">
                    <Moment at={publishedAt} />
                  </span>
                </>
              ),
            },
          ]}
        />
      )}
    </Screen>
  );
}

/** From this failure rate on, the rate is shown in red. */
const BAD_RATE = 0.5;

function FailureRate({ rate }: { rate: number | null }) {
  const isBad = rate !== null && rate >= BAD_RATE;
  return <span className={isBad ? 'bad-number' : undefined}>{rateWords(rate)}</span>;
}
