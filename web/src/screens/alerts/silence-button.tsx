import { useState } from 'react';
import type { AlertView } from '../../../../src/core/alert/alert.ts';
import { call } from '../../api/call.ts';
import { useAsked, useChange } from '../../api/use-change.ts';
import { Allowed } from '../../parts/allowed.tsx';
import { AskButton } from '../../parts/ask.tsx';
import { SILENCES } from '../../words/alerts/alert-words.ts';

/** Silences a firing alert, or ends its silence. */
export function SilenceButton({ alert: { id, silenced } }: { alert: AlertView }) {
  const [chosen, setChosen] = useState(0);
  const path = `/v1/alerts/${id}/silence`;
  const silence = useAsked(
    async (seconds: number | null) => await call<AlertView>('PUT', path, { body: { seconds } }),
    () => 'Alert silenced.',
  );
  const end = useChange(
    async () => await call<AlertView>('DELETE', path),
    () => 'Silence ended.',
  );
  return (
    <Allowed scope="operate">
      {silenced !== null ? (
        <button type="button" className="small" onClick={() => end.mutate(undefined)}>
          End silence
        </button>
      ) : (
        <AskButton
          label="Silence…"
          className="small"
          title="Silence this alert?"
          confirm="Silence alert"
          tone="primary"
          onConfirm={() => silence(SILENCES[chosen]?.[1] ?? null)}
        >
          <p>It stays in this list, and nothing is sent about it.</p>
          <label className="field">
            <span>How long</span>
            <select value={chosen} onChange={(event) => setChosen(Number(event.target.value))}>
              {SILENCES.map(([words], index) => (
                <option key={words} value={index}>
                  {words}
                </option>
              ))}
            </select>
          </label>
        </AskButton>
      )}
    </Allowed>
  );
}
