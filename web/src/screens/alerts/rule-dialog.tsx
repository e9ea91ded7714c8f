import { useState } from 'react';
import { call } from '../../api/call.ts';
import {
  ALERT_SEVERITIES,
  type AlertRuleView,
  type AlertSeverity,
} from '../../../../src/core/alert/alert.ts';
import { scopeWords } from '../../words/alerts/alert-words.ts';
import { useAsked } from '../../api/use-change.ts';
import { Ask } from '../../parts/ask.tsx';

export function RuleDialog({ rule, onClose }: { rule: AlertRuleView; onClose: () => void }) {
  const [threshold, setThreshold] = useState(String(rule.threshold));
  const [seconds, setSeconds] = useState(String(rule.windowSeconds ?? ''));
  const [severity, setSeverity] = useState(rule.severity);
  const [enabled, setEnabled] = useState(rule.enabled);
  const change = useAsked(
    async () =>
      await call<AlertRuleView>('PUT', `/v1/alerts/rules/${encodeURIComponent(rule.rule)}`, {
        body: {
          definitionKey: rule.definitionKey,
          enabled,
          severity,
          threshold: Number(threshold),
          ...(rule.windowSeconds !== null && { windowSeconds: Number(seconds) }),
        },
      }),
    () => 'Rule saved.',
  );
  return (
    <Ask
      title={`Rule ${rule.rule}`}
      confirm="Save"
      tone="primary"
      onConfirm={() => change(undefined)}
      onClose={onClose}
    >
      <p className="soft">{rule.description}</p>
      <p className="soft">{scopeWords(rule)}</p>
      <label className="field">
        <span>Threshold ({rule.unit})</span>
        <input
          inputMode="numeric"
          value={threshold}
          onChange={(event) => setThreshold(event.target.value)}
        />
      </label>
      {rule.windowSeconds !== null && (
        <label className="field">
          <span>Window (seconds)</span>
          <input
            inputMode="numeric"
            value={seconds}
            onChange={(event) => setSeconds(event.target.value)}
          />
        </label>
      )}
      <label className="field">
        <span>Severity</span>
        <select
          value={severity}
          onChange={(event) => setSeverity(event.target.value as AlertSeverity)}
        >
          {ALERT_SEVERITIES.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <label className="check">
        <input
          type="checkbox"
          checked={enabled}
          onChange={(event) => setEnabled(event.target.checked)}
        />
        Enabled
      </label>
    </Ask>
  );
}
