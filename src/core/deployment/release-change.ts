/** What happened to releases, as the audit log has it: `deployment.` and one of these. */
export const RELEASE_ACTIONS = ['promote', 'rollback', 'canary', 'canary-end', 'retire'] as const;
export type ReleaseAction = (typeof RELEASE_ACTIONS)[number];

/** A change of what new jobs get. */
export interface ReleaseChangeView {
  at: string;
  action: ReleaseAction;
  /** The number of the deployment. */
  deployment: number;
  definitions: string[];
  canaryPercent: number | null;
  by: string;
  reason: string | null;
}

/** One change in a few words. */
export function releaseWords({ action, deployment, canaryPercent }: ReleaseChangeView): string {
  switch (action) {
    case 'promote':
      return `deployment ${deployment} released`;
    case 'rollback':
      return `rolled back to deployment ${deployment}`;
    case 'canary':
      return `canary of deployment ${deployment}: ${canaryPercent}%`;
    case 'canary-end':
      return `canary of deployment ${deployment} ended`;
    case 'retire':
      return `deployment ${deployment} retired`;
  }
}
