import { useState } from 'react';
import type { PublishedDefinition } from '../../../../src/client/job.ts';
import type { PauseView } from '../../../../src/core/queue/limit-view.ts';
import { call } from '../../api/call.ts';
import { useChange } from '../../api/use-change.ts';
import { useMay } from '../../api/use-may.ts';
import { Ask } from '../../parts/ask.tsx';
import { Icon } from '../../parts/icon.tsx';
import { useNow } from '../../runtime/clock.ts';
import { pauseWords } from '../../words/queues/pause-words.ts';

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
  const [asking, setAsking] = useState(false);
  const [reason, setReason] = useState('');
  const path = `/v1/definitions/${encodeURIComponent(key)}`;
  const pause = useChange(
    async () =>
      await call<PauseView>('POST', `${path}/pause`, { body: { reason: reason.trim() || null } }),
    () => `${key} paused.`,
  );
  const resume = useChange(
    async () => await call<object>('POST', `${path}/resume`),
    () => `${key} resumed.`,
  );
  if (!useMay('operate', { ofHost: true })) return null;
  if (paused) {
    return (
      <button type="button" className="primary" onClick={() => resume.mutate(undefined)}>
        <Icon name="play" />
        Resume
      </button>
    );
  }
  return (
    <>
      <button type="button" onClick={() => setAsking(true)}>
        <Icon name="pause" />
        Pause…
      </button>
      {asking && (
        <Ask
          title={`Pause ${key}?`}
          confirm="Pause definition"
          onConfirm={() => pause.mutate(undefined)}
          onClose={() => setAsking(false)}
        >
          <p>
            No more jobs of this definition start. Running jobs continue; new jobs wait in the
            queue.
          </p>
          <label className="field">
            <span>Reason (shown to others)</span>
            <input value={reason} maxLength={500} onChange={(e) => setReason(e.target.value)} />
          </label>
        </Ask>
      )}
    </>
  );
}
