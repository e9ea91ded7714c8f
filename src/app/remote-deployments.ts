import type { ServedReply } from '../protocol/worker-protocol.ts';
import type { DeploymentSource } from '../worker/deployed/deployed-code.ts';
import type { RemoteCalls } from '../worker/remote/remote-calls.ts';
import type { RemoteQueue } from '../worker/remote/remote-queue.ts';
import { CodeCache } from './code-cache.ts';
import type { CodeSettings } from './local-deployments.ts';

const LIST_MS = 10_000;

/** The deployments of a worker without a database connection. Its server has them. */
export function remoteDeployments(
  calls: RemoteCalls,
  queue: Pick<RemoteQueue, 'instance'>,
  settings: CodeSettings,
): DeploymentSource {
  const code = new CodeCache(settings);
  const path = (what: string) => `/v1/workers/${queue.instance}/${what}`;
  return {
    list: async () => {
      const call = { method: 'GET', path: path('deployments'), timeoutMs: LIST_MS } as const;
      return (await calls.call<ServedReply>(call)).deployments;
    },
    take: async (deployment) =>
      await code.take(
        deployment,
        async (signal) => await calls.download(path(`artifacts/${deployment.sha256}`), signal),
      ),
    close: async () => await code.close(),
  };
}
