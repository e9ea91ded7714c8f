import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { duration } from '../../../../src/core/duration.ts';
import type { AlertRuleView } from '../../../../src/core/alert.ts';
import { alertRulesQuery } from '../../api/signal-queries.ts';
import { Panel } from '../../parts/panel.tsx';
import { Waiting } from '../../parts/screen.tsx';
import { RuleDialog } from './rule-dialog.tsx';

const SOURCES = { default: 'built in', config: 'the configuration', api: 'a person' } as const;

/** By which rules alerts fire, as they hold now. */
export function RulesPanel() {
  const { data: rules, error } = useQuery(alertRulesQuery());
  const [changing, setChanging] = useState<AlertRuleView | null>(null);
  return (
    <div className="below">
      <Panel title="Rules" flush>
        {rules === undefined ? (
          <Waiting error={error} />
        ) : (
          <div className="scroll">
            <table className="rows">
              <caption className="visually-hidden">Rules of alerts</caption>
              <thead>
                <tr>
                  <th scope="col">Rule</th>
                  <th scope="col">Fires from</th>
                  <th scope="col">Within</th>
                  <th scope="col">Said by</th>
                  <th scope="col">
                    <span className="visually-hidden">Actions</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {rules.map((rule) => (
                  <tr key={`${rule.rule} ${rule.definitionKey}`}>
                    <td>
                      <strong>{rule.rule}</strong>{' '}
                      {rule.definitionKey !== null && `of ${rule.definitionKey} `}
                      {!rule.enabled && <span className="badge tone-warn">off</span>}
                      <br />
                      <span className="soft">{rule.description}</span>
                    </td>
                    <td className="nowrap">
                      {rule.threshold.toLocaleString('en')} {rule.unit}
                    </td>
                    <td className="nowrap">
                      {rule.windowSeconds === null
                        ? 'at this moment'
                        : duration(rule.windowSeconds * 1_000)}
                    </td>
                    <td className="nowrap">{SOURCES[rule.source]}</td>
                    <td className="number">
                      <button type="button" className="small" onClick={() => setChanging(rule)}>
                        Change…
                      </button>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Panel>
      {changing !== null && <RuleDialog rule={changing} onClose={() => setChanging(null)} />}
    </div>
  );
}
