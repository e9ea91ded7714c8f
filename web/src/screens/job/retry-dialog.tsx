import { useState } from 'react';
import type { PublishedDefinition } from '../../../../src/client/job.ts';
import type { JobView } from '../../../../src/core/job/job.ts';
import { useIsDeployed } from '../../api/deployment-queries.ts';
import { Ask } from '../../parts/ask.tsx';
import { RETRY_MODES, type RetryMode, type RetryRequest } from '../../words/jobs/retry-request.ts';
import { JobParamsInput, otherComplaints, useJobParams } from './job-params.tsx';

/** Retry with options: from scratch, later, with current code, or with other params. */
export function RetryDialog({
  job,
  definitions,
  onRetry,
  onClose,
}: {
  job: JobView;
  /** All versions of its definition. */
  definitions: readonly PublishedDefinition[];
  onRetry: (request: RetryRequest) => Promise<unknown>;
  onClose: () => void;
}) {
  const [mode, setMode] = useState<RetryMode>('now');
  const [isCurrent, setIsCurrent] = useState(false);
  const isDeployed = useIsDeployed(job);
  const own = definitions.find(({ version }) => version === job.definitionVersion);
  const params = useJobParams(job, own);
  const confirm = () => {
    const { draft, setWrong, checked } = params;
    const request = { mode, ...(isCurrent && { version: 'current' as const }) };
    if (!draft.changed) return checked(onRetry(request));
    const read = draft.read();
    if ('params' in read) return checked(onRetry({ ...request, params: read.params }));
    setWrong({ [read.pointer]: read.wrong });
    return 'stay' as const;
  };
  return (
    <Ask
      title="Retry this job"
      confirm="Retry"
      tone="primary"
      complaints={otherComplaints}
      onConfirm={confirm}
      onClose={onClose}
    >
      <fieldset className="modes">
        <legend>Mode</legend>
        {Object.entries(RETRY_MODES).map(([name, words]) => (
          <label key={name} className="check">
            <input
              type="radio"
              name="mode"
              checked={mode === name}
              onChange={() => setMode(name as RetryMode)}
            />
            {words}
          </label>
        ))}
      </fieldset>
      {isDeployed && (
        <label className="check">
          <input
            type="checkbox"
            checked={isCurrent}
            onChange={(event) => setIsCurrent(event.target.checked)}
          />
          With the code that new jobs get now, not with deployment {job.definitionVersion}
        </label>
      )}
      {job.largeParams ? (
        <p>Its params are too large to be edited here. They stay as they are.</p>
      ) : (
        <JobParamsInput params={params} />
      )}
    </Ask>
  );
}
