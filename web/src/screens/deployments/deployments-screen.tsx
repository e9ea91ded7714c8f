import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { DeploymentView } from '../../../../src/core/deployment/deployment-view.ts';
import { DEPLOYMENTS_PER_PAGE, deploymentsQuery } from '../../api/deployment-queries.ts';
import { Command } from '../../parts/copy-button.tsx';
import { Moment } from '../../parts/moment.tsx';
import { Pages } from '../../parts/pages.tsx';
import { Rows } from '../../parts/rows.tsx';
import { Empty, Screen, Waiting } from '../../parts/screen.tsx';
import { actorWords } from '../../../../src/core/identity/actor.ts';
import { plainText } from '../../words/jobs/log-tail.ts';
import { bytes } from '../../words/moment.ts';
import { shortRevision } from '../../words/queues/deployment-words.ts';
import { DeploymentBadge } from './deployment-badge.tsx';

const route = getRouteApi('/deployments');

/** Deployed code, and which of it new jobs get. */
export function DeploymentsScreen() {
  const { cursor } = route.useSearch();
  const { data: deployments, error } = useQuery(deploymentsQuery(cursor));
  return (
    <Screen title="Deployments">
      {deployments === undefined ? (
        <Waiting error={error} />
      ) : deployments.length === 0 && cursor === undefined ? (
        <Empty title="No deployments yet.">
          <p>Deploy a folder of definitions. Workers load it without a restart.</p>
          <Command text="npx longshore deploy ./jobs" />
        </Empty>
      ) : (
        <DeploymentTable deployments={deployments} />
      )}
      {deployments && (
        <Pages to="/deployments" search={{ cursor }} nextCursor={nextOf(deployments)} />
      )}
    </Screen>
  );
}

function nextOf(deployments: readonly DeploymentView[]): string | null {
  const last = deployments[DEPLOYMENTS_PER_PAGE - 1];
  return last === undefined || last.number === 1 ? null : String(last.number);
}

function DeploymentTable({ deployments }: { deployments: readonly DeploymentView[] }) {
  return (
    <Rows
      caption="Deployments"
      rows={deployments}
      keyOf={({ number }) => String(number)}
      columns={[
        {
          title: 'Number',
          cell: ({ number }) => (
            <Link
              to="/deployments/$number"
              params={{ number: String(number) }}
              className="row-link"
              data-row
            >
              {number}
            </Link>
          ),
        },
        {
          title: 'Status',
          titled: 'in-head',
          cell: (deployment) => <DeploymentBadge deployment={deployment} />,
        },
        {
          title: 'Definitions',
          kind: 'number',
          cell: ({ definitions }) => (
            <span title={definitions.join(', ')}>{definitions.length}</span>
          ),
        },
        { title: 'Size', kind: 'number', cell: (one) => bytes(one.bytes) },
        { title: 'Revision', kind: 'short', cell: ({ revision }) => <Revision of={revision} /> },
        { title: 'By', cell: ({ createdBy }) => actorWords(createdBy) },
        { title: 'Created', kind: 'short', cell: ({ createdAt }) => <Moment at={createdAt} /> },
        {
          title: 'Note',
          kind: 'wide',
          cell: ({ note }) => <Note of={note} />,
        },
      ]}
    />
  );
}

function Revision({ of }: { of: string | null }) {
  if (of === null) return <span className="soft">–</span>;
  return <code title={plainText(of)}>{plainText(shortRevision(of))}</code>;
}

function Note({ of }: { of: string | null }) {
  if (of === null) return <span className="soft">–</span>;
  return <span title={plainText(of)}>{plainText(of)}</span>;
}
