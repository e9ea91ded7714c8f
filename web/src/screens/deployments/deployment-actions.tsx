import { useQuery } from '@tanstack/react-query';
import { type ComponentProps, type ReactNode, useState } from 'react';
import type { DeploymentView } from '../../../../src/core/deployment/deployment-view.ts';
import { call } from '../../api/call.ts';
import { releasesQuery } from '../../api/deployment-queries.ts';
import { useAsked } from '../../api/use-change.ts';
import { AskButton } from '../../parts/ask.tsx';
import {
  canBeCanary,
  canPromote,
  keyWords,
  retireWords,
  type Rollback,
  rollbackOf,
  rolledBackWords,
} from '../../words/queues/deployment-words.ts';

/** Gives a deployment to new jobs, or takes it from them. */
export function DeploymentActions({ deployment }: { deployment: DeploymentView }) {
  const { data: releases = [] } = useQuery(releasesQuery());
  const rollback = rollbackOf(deployment, releases);
  return (
    <>
      {canPromote(deployment) && <PromoteButton deployment={deployment} />}
      {canBeCanary(deployment, releases) && <CanaryButton deployment={deployment} />}
      {rollback && <RollbackButton rollback={rollback} />}
      {deployment.status !== 'retired' && <RetireButton deployment={deployment} />}
    </>
  );
}

function PromoteButton({ deployment: { number, definitions } }: { deployment: DeploymentView }) {
  const promote = useAsked(
    async (reason: string | null) =>
      await call<DeploymentView>('POST', '/v1/releases', { body: { deployment: number, reason } }),
    () => `New jobs get deployment ${number}.`,
  );
  return (
    <ReasonButton
      label="Give to new jobs…"
      className="primary"
      title={`Give deployment ${number} to new jobs?`}
      confirm="Give to new jobs"
      tone="primary"
      does={`New jobs of ${keyWords(definitions)} get deployment ${number}.`}
      onReason={(reason) => promote(reason)}
    />
  );
}

function CanaryButton({ deployment: { number, canaryPercent } }: { deployment: DeploymentView }) {
  const [percent, setPercent] = useState(String(canaryPercent ?? 5));
  const start = useAsked(
    async (reason: string | null) =>
      await call<DeploymentView>('POST', '/v1/releases', {
        body: { deployment: number, canaryPercent: Number(percent), reason },
      }),
    () => `${percent}% of new jobs get deployment ${number}.`,
  );
  return (
    <ReasonButton
      label={canaryPercent === null ? 'Start a canary…' : 'Change the share…'}
      title={`Give deployment ${number} to a share of new jobs?`}
      confirm={canaryPercent === null ? 'Start the canary' : 'Change the share'}
      tone="primary"
      does="It stops itself when its attempts fail clearly more often than those of the current deployment."
      onReason={(reason) => start(reason)}
    >
      <label className="field">
        <span>Share of new jobs, in percent</span>
        <input
          type="number"
          min="0.01"
          max="99"
          step="any"
          value={percent}
          onChange={(event) => setPercent(event.target.value)}
        />
      </label>
    </ReasonButton>
  );
}

function RetireButton({ deployment: { number, currentFor } }: { deployment: DeploymentView }) {
  const retire = useAsked(
    async () => await call<DeploymentView>('POST', `/v1/deployments/${number}/retire`),
    () => `Deployment ${number} is retired.`,
  );
  return (
    <AskButton
      label="Retire…"
      title={`Retire deployment ${number}?`}
      confirm="Retire"
      onConfirm={() => retire(undefined)}
    >
      <p>{retireWords(currentFor)}</p>
    </AskButton>
  );
}

function RollbackButton({ rollback: { definitions, does } }: { rollback: Rollback }) {
  const rollBack = useAsked(
    async (reason: string | null) =>
      await call<{ deployments: DeploymentView[] }>('POST', '/v1/releases/rollback', {
        body: { definitions, reason },
      }),
    ({ deployments }) => rolledBackWords(deployments),
  );
  return (
    <ReasonButton
      label="Roll back…"
      className="danger"
      title="Roll back?"
      confirm="Roll back"
      does={does}
      onReason={(reason) => rollBack(reason)}
    />
  );
}

/** A button that says what happens and asks for a reason. */
function ReasonButton({
  does,
  onReason,
  children,
  ...ask
}: {
  does: string;
  onReason: (reason: string | null) => Promise<unknown>;
  children?: ReactNode;
} & Omit<ComponentProps<typeof AskButton>, 'children' | 'onConfirm'>) {
  const [reason, setReason] = useState('');
  return (
    <AskButton {...ask} onConfirm={() => onReason(reason.trim() || null)}>
      <p>{does} Jobs that are queued keep their deployment.</p>
      {children}
      <label className="field">
        <span>Reason (shown to others)</span>
        <input value={reason} maxLength={500} onChange={(e) => setReason(e.target.value)} />
      </label>
    </AskButton>
  );
}
