import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type {
  DeploymentView,
  ReleaseView,
} from '../../../../src/core/deployment/deployment-view.ts';
import { deploymentQuery, releasesQuery } from '../../api/deployment-queries.ts';
import { Allowed } from '../../parts/allowed.tsx';
import { Moment } from '../../parts/moment.tsx';
import { Facts, Panel } from '../../parts/panel.tsx';
import { Screen, Waiting } from '../../parts/screen.tsx';
import { actorWords } from '../../../../src/core/identity/actor.ts';
import { plainText } from '../../words/jobs/log-tail.ts';
import { bytes } from '../../words/moment.ts';
import { latestRelease } from '../../words/queues/deployment-words.ts';
import { DeploymentActions } from './deployment-actions.tsx';
import { DeploymentBadge } from './deployment-badge.tsx';
import { DifferencePanel } from './difference-panel.tsx';
import { JobsPanel } from './jobs-panel.tsx';

const route = getRouteApi('/deployments/$number');

export function DeploymentScreen() {
  const { number } = route.useParams();
  const { data: deployment, error } = useQuery(deploymentQuery(number));
  const title = `Deployment ${number}`;
  if (!deployment) {
    return (
      <Screen title={title}>
        <Waiting error={error} />
      </Screen>
    );
  }
  return (
    <Screen
      title={title}
      heading={
        <>
          <DeploymentBadge deployment={deployment} />
          {title}
        </>
      }
      actions={
        <Allowed scope="admin">
          <DeploymentActions deployment={deployment} />
        </Allowed>
      }
    >
      {deployment.note !== null && <p className="sentence">{plainText(deployment.note)}</p>}
      <div className="columns">
        <div>
          <JobsPanel jobs={deployment.jobs} />
          <DifferencePanel number={deployment.number} />
        </div>
        <div>
          <About deployment={deployment} />
        </div>
      </div>
    </Screen>
  );
}

function About({ deployment }: { deployment: DeploymentView }) {
  const { definitions, currentFor, canaryFor, revision, retiredAt } = deployment;
  const { data: releases = [] } = useQuery(releasesQuery());
  const release = latestRelease(deployment.number, releases);
  // `longshore deploy` gives the note as the reason, and the note is above.
  const reason = release?.reason === deployment.note ? null : release?.reason;
  return (
    <Panel title="About">
      <Facts
        facts={[
          ['Definitions', definitions.join(', ')],
          ['Current for', currentFor.join(', ')],
          ['Canary for', canaryFor.join(', ')],
          ['Released', release && <Released release={release} />],
          ['Reason', reason && plainText(reason)],
          ['Artifact', <code className="whole-id">{deployment.artifactId}</code>],
          ['Size', bytes(deployment.bytes)],
          ['Revision', revision && <code className="whole-id">{plainText(revision)}</code>],
          ['By', actorWords(deployment.createdBy)],
          ['Created', <Moment at={deployment.createdAt} />],
          ['Retired', retiredAt && <Moment at={retiredAt} />],
        ]}
      />
    </Panel>
  );
}

function Released({ release: { changedAt, changedBy } }: { release: ReleaseView }) {
  return (
    <>
      <Moment at={changedAt} /> by {actorWords(changedBy)}
    </>
  );
}
