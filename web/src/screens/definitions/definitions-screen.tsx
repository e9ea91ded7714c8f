import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { duration } from '../../../../src/core/duration.ts';
import { definitionsQuery } from '../../api/queries.ts';
import type { DefinitionStats } from '../../../../src/core/stats.ts';
import { useStats } from '../../api/signal-queries.ts';
import { Moment } from '../../parts/moment.tsx';
import { Empty, Screen, Waiting } from '../../parts/screen.tsx';
import { newestVersions, retryWords } from '../../words/definition-words.ts';
import { limitsLine } from '../../words/limit-words.ts';
import { quantileWords, rateWords } from '../../words/throughput.ts';

/** What can run, and whose it is. */
export function DefinitionsScreen() {
  const { data: definitions, error } = useQuery(definitionsQuery());
  const stats = useStats();
  const rates = new Map(stats?.definitions.map((one) => [one.key, one]));
  return (
    <Screen title="Definitions">
      {definitions === undefined ? (
        <Waiting error={error} />
      ) : definitions.length === 0 ? (
        <Empty title="No worker has brought a definition yet.">
          <p>Put a file with defineJob into the jobs folder of a worker, and start it.</p>
        </Empty>
      ) : (
        <div className="scroll">
          <table className="rows">
            <caption className="visually-hidden">Definitions</caption>
            <thead>
              <tr>
                <th scope="col">Definition</th>
                <th scope="col">Owner</th>
                <th scope="col" className="number">
                  Version
                </th>
                <th scope="col" className="number">
                  Attempts
                </th>
                <th scope="col">Retried</th>
                <th scope="col" className="number">
                  Timeout
                </th>
                {stats && (
                  <>
                    <th scope="col" className="number">
                      Fails
                    </th>
                    <th scope="col">Takes</th>
                  </>
                )}
                <th scope="col">Limits</th>
                <th scope="col">Published</th>
              </tr>
            </thead>
            <tbody>
              {newestVersions(definitions).map((one) => (
                <tr key={one.key}>
                  <td>
                    <Link
                      to="/definitions/$key"
                      params={{ key: one.key }}
                      className="row-link"
                      data-row
                    >
                      {one.key}
                    </Link>{' '}
                    {one.paused && <span className="badge tone-warn">paused</span>}
                  </td>
                  <td className="nowrap">{one.owner ?? <span className="soft">–</span>}</td>
                  <td className="number">{one.version}</td>
                  <td className="number">{one.maxAttempts}</td>
                  <td>{retryWords(one)}</td>
                  <td className="number nowrap">{duration(one.timeoutSeconds * 1_000)}</td>
                  {stats && <Rates rates={rates.get(one.key)} />}
                  <td>{limitsLine(one.limits.effective) || <span className="soft">–</span>}</td>
                  <td className="nowrap">
                    <Moment at={one.publishedAt} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Screen>
  );
}

function Rates({ rates }: { rates: DefinitionStats | undefined }) {
  return (
    <>
      <td className="number nowrap">{rateWords(rates?.failureRate ?? null)}</td>
      <td className="nowrap">{rates ? quantileWords(rates.runMs) : '–'}</td>
    </>
  );
}
