import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { AlertRuleView } from '../../../../src/core/alert/alert.ts';
import { alertRulesQuery } from '../../api/signal-queries.ts';
import { Allowed } from '../../parts/allowed.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Rows } from '../../parts/rows.tsx';
import { Waiting } from '../../parts/screen.tsx';
import { thresholdWords, windowWords } from '../../words/alerts/alert-words.ts';
import { RuleDialog } from './rule-dialog.tsx';

const SOURCES = { default: 'built in', config: 'configuration', api: 'API' } as const;

/** Alert rules with their effective values. */
export function RulesPanel() {
  const { data: rules, error } = useQuery(alertRulesQuery());
  const [changing, setChanging] = useState<AlertRuleView | null>(null);
  return (
    <div className="below">
      <Panel title="Rules" flush>
        {rules === undefined ? (
          <Waiting error={error} />
        ) : (
          <Rows
            caption="Alert rules"
            rows={rules}
            keyOf={({ rule, definitionKey }) => `${rule} ${definitionKey}`}
            columns={[
              { title: 'Rule', titled: 'in-head', cell: (rule) => <RuleName rule={rule} /> },
              { title: 'Threshold', kind: 'short', cell: thresholdWords },
              { title: 'Window', kind: 'short', cell: windowWords },
              { title: 'Source', kind: 'short', cell: ({ source }) => SOURCES[source] },
              {
                title: 'Actions',
                titled: 'aloud',
                cell: (rule) => (
                  <Allowed scope="operate">
                    <button type="button" className="small" onClick={() => setChanging(rule)}>
                      Change…
                    </button>
                  </Allowed>
                ),
              },
            ]}
          />
        )}
      </Panel>
      {changing !== null && <RuleDialog rule={changing} onClose={() => setChanging(null)} />}
    </div>
  );
}

function RuleName({
  rule: { rule, definitionKey, enabled, severity, description },
}: {
  rule: AlertRuleView;
}) {
  return (
    <>
      <strong>{rule}</strong> {definitionKey !== null && `for ${definitionKey} `}
      {!enabled && <span className="badge tone-warn">off</span>}{' '}
      {severity === 'critical' && <span className="badge tone-bad">critical</span>}
      <br />
      <span className="soft">{description}</span>
    </>
  );
}
