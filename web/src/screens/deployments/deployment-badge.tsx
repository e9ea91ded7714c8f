import type { DeploymentView } from '../../../../src/core/deployment/deployment-view.ts';
import { DEPLOYMENT_TONES, deploymentStatusWords } from '../../words/queues/deployment-words.ts';

export function DeploymentBadge({ deployment }: { deployment: DeploymentView }) {
  return (
    <span className={`badge tone-${DEPLOYMENT_TONES[deployment.status]}`}>
      {deploymentStatusWords(deployment)}
    </span>
  );
}
