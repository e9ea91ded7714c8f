import { useState } from 'react';
import type { JobView } from '../../../../src/core/job/job.ts';
import { useIsDeployed } from '../../api/deployment-queries.ts';
import { Ask } from '../../parts/ask.tsx';
import {
  readRetry,
  RETRY_MODES,
  type RetryMode,
  type RetryRequest,
} from '../../words/jobs/retry-request.ts';

/** Retry with options: from scratch, later, with current code, or with other params. */
export function RetryDialog({
  job,
  onRetry,
  onClose,
}: {
  job: JobView;
  onRetry: (request: RetryRequest) => Promise<unknown>;
  onClose: () => void;
}) {
  const shown = JSON.stringify(job.params, null, 2);
  const [mode, setMode] = useState<RetryMode>('now');
  const [isCurrent, setIsCurrent] = useState(false);
  const isDeployed = useIsDeployed(job);
  const [text, setText] = useState(shown);
  const [wrong, setWrong] = useState<string | null>(null);
  const confirm = () => {
    const read = readRetry(mode, text, shown);
    setWrong('wrong' in read ? read.wrong : null);
    if ('wrong' in read) return 'stay' as const;
    return onRetry(isCurrent ? { ...read, version: 'current' } : read);
  };
  return (
    <Ask
      title="Retry this job"
      confirm="Retry"
      tone="primary"
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
        <label className="field">
          <span>Params</span>
          <textarea
            rows={8}
            spellCheck={false}
            value={text}
            aria-invalid={wrong !== null}
            onChange={(event) => setText(event.target.value)}
          />
        </label>
      )}
      <p role="alert" className="wrong">
        {wrong}
      </p>
    </Ask>
  );
}
