import { Link } from '@tanstack/react-router';
import { releaseWords } from '../../../../src/core/deployment/release-change.ts';
import { useReleaseChanges } from '../../api/deployment-queries.ts';
import { Moment } from '../../parts/moment.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Rows } from '../../parts/rows.tsx';
import { actorWords } from '../../../../src/core/identity/actor.ts';
import { plainText } from '../../words/jobs/log-tail.ts';

const WEEK_HOURS = 168;
const SHOWN = 10;

/** What was released of a definition, by whom and why; nothing if it is not deployed. */
export function ReleasesPanel({ definitionKey }: { definitionKey: string }) {
  const changes = useReleaseChanges(WEEK_HOURS)
    .filter(({ definitions }) => definitions.includes(definitionKey))
    .slice(0, SHOWN);
  if (changes.length === 0) return null;
  return (
    <Panel title="Releases" aside="last 7 days" flush>
      <Rows
        caption="Releases"
        rows={changes}
        keyOf={({ at, action, deployment }) => `${at} ${action} ${deployment}`}
        columns={[
          { title: 'When', kind: 'short', cell: ({ at }) => <Moment at={at} /> },
          {
            title: 'Change',
            titled: 'in-head',
            cell: (change) => (
              <Link
                to="/deployments/$number"
                params={{ number: String(change.deployment) }}
                className="row-link"
                data-row
              >
                {releaseWords(change)}
              </Link>
            ),
          },
          { title: 'By', cell: ({ by }) => actorWords(by) },
          {
            title: 'Reason',
            kind: 'wide',
            cell: ({ reason }) => (reason === null ? '–' : plainText(reason)),
          },
        ]}
      />
    </Panel>
  );
}
