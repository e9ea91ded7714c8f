import { useState } from 'react';
import type { PublishedDefinition } from '../../../../src/client/job.ts';
import type { PauseView } from '../../../../src/core/queue/limit-view.ts';
import { call } from '../../api/call.ts';
import { useStats } from '../../api/signal-queries.ts';
import { useAsked } from '../../api/use-change.ts';
import { useMay } from '../../api/use-may.ts';
import { AskButton } from '../../parts/ask.tsx';
import { Icon } from '../../parts/icon.tsx';
import { useNow } from '../../runtime/clock.ts';
import { plainText } from '../../words/jobs/log-tail.ts';
import { PAUSE, pauseWords, RESUME, resumeWords } from '../../words/queues/pause-words.ts';

/** A prominent notice, so that it is clear why no job starts. */
export function PauseNotice({ pause }: { pause: PauseView }) {
  const now = useNow();
  return (
    <div className="notice warn" role="status">
      <Icon name="pause" />
      <p>{pauseWords(pause, now)}</p>
    </div>
  );
}

export function PauseButton({ definition: { key, paused } }: { definition: PublishedDefinition }) {
  const [reason, setReason] = useState('');
  const waiting = useStats()?.definitions.find((one) => one.key === key)?.depth ?? null;
  const path = `/v1/definitions/${encodeURIComponent(key)}`;
  const pause = useAsked(
    async () =>
      await call<PauseView>('POST', `${path}/pause`, { body: { reason: reason.trim() || null } }),
    () => `${key} paused.`,
  );
  const resume = useAsked(
    async () => await call<object>('POST', `${path}/resume`),
    () => `${key} resumed.`,
  );
  if (!useMay('operate', { ofDefaultTenant: true })) return null;
  if (paused) {
    return (
      <AskButton
        label={
          <>
            <Icon name="resume" />
            Resume…
          </>
        }
        className="primary"
        opener={RESUME}
        title={`Resume ${key}?`}
        confirm="Resume definition"
        tone="primary"
        onConfirm={() => resume(undefined)}
      >
        <p>{resumeWords(waiting)}</p>
        {paused.reason !== null && <p>Paused because: {plainText(paused.reason)}</p>}
      </AskButton>
    );
  }
  return (
    <AskButton
      label={
        <>
          <Icon name="pause" />
          Pause…
        </>
      }
      opener={PAUSE}
      title={`Pause ${key}?`}
      confirm="Pause definition"
      onConfirm={() => pause(undefined)}
    >
      <p>
        No more jobs of this definition start. Running jobs continue; new jobs wait in the queue.
      </p>
      <label className="field">
        <span>Reason (shown to others)</span>
        <input value={reason} maxLength={500} onChange={(e) => setReason(e.target.value)} />
      </label>
    </AskButton>
  );
}
