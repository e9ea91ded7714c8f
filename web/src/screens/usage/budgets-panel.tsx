import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { BudgetView } from '../../../../src/core/usage/budget.ts';
import { call } from '../../api/call.ts';
import { useAsked } from '../../api/use-change.ts';
import { useMay } from '../../api/use-may.ts';
import { budgetsQuery } from '../../api/usage-queries.ts';
import { AskButton } from '../../parts/ask.tsx';
import { Moment } from '../../parts/moment.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Rows } from '../../parts/rows.tsx';
import { Waiting } from '../../parts/screen.tsx';
import { amountWords, budgetTone, budgetWords } from '../../words/usage/usage-words.ts';
import { BudgetDialog } from './budget-dialog.tsx';

/** The budgets of the tenant, or those that concern one definition. */
export function BudgetsPanel({ definitionKey }: { definitionKey: string | undefined }) {
  const { data, error } = useQuery(budgetsQuery());
  const [changing, setChanging] = useState<BudgetView | 'new' | null>(null);
  const mayChange = useMay('operate');
  const budgets = data?.filter(
    (one) => definitionKey === undefined || (one.definitionKey ?? definitionKey) === definitionKey,
  );
  const add = mayChange && (
    <button type="button" className="small" onClick={() => setChanging('new')}>
      Add budget…
    </button>
  );
  return (
    <div className="below">
      <Panel title="Budgets" aside={add} flush={budgets !== undefined && budgets.length > 0}>
        {budgets === undefined ? (
          <Waiting error={error} />
        ) : budgets.length === 0 ? (
          <p className="soft linked">
            No budgets. A budget fires an <Link to="/alerts">alert</Link> when jobs use more than
            they should.
          </p>
        ) : (
          <BudgetTable budgets={budgets} mayChange={mayChange} onChange={setChanging} />
        )}
      </Panel>
      <p className="soft linked">
        A budget only fires alerts. To hold jobs back, limit or pause a{' '}
        <Link to="/definitions">definition</Link>.
      </p>
      {changing !== null && (
        <BudgetDialog
          budget={changing === 'new' ? null : changing}
          definitionKey={definitionKey ?? null}
          onClose={() => setChanging(null)}
        />
      )}
    </div>
  );
}

function BudgetTable({
  budgets,
  mayChange,
  onChange,
}: {
  budgets: readonly BudgetView[];
  mayChange: boolean;
  onChange: (budget: BudgetView) => void;
}) {
  return (
    <Rows
      caption="Budgets"
      rows={budgets}
      keyOf={({ name }) => name}
      columns={[
        {
          title: 'Budget',
          titled: 'in-head',
          cell: (budget) => (
            <>
              <strong>{budget.name}</strong>
              <br />
              <span className="soft">{budgetWords(budget)}</span>
            </>
          ),
        },
        { title: 'Used', cell: (budget) => <Used budget={budget} /> },
        {
          title: 'Runs out',
          kind: 'short',
          cell: ({ runsOutAt, usedPercent }) =>
            runsOutAt === null ? usedPercent >= 100 ? 'used up' : '–' : <Moment at={runsOutAt} />,
        },
        mayChange && {
          title: 'Actions',
          titled: 'aloud',
          cell: (budget) => <BudgetActions budget={budget} onChange={() => onChange(budget)} />,
        },
      ]}
    />
  );
}

function Used({ budget }: { budget: BudgetView }) {
  const { measure, used, usedPercent, name } = budget;
  return (
    <span className="budget-used">
      <progress
        className={budgetTone(budget)}
        value={Math.min(100, usedPercent)}
        max={100}
        aria-label={`Used of ${name}`}
      />
      <span>
        {usedPercent.toLocaleString('en')} %{' '}
        <span className="soft">{amountWords(measure, used)}</span>
      </span>
    </span>
  );
}

function BudgetActions({
  budget: { name },
  onChange,
}: {
  budget: BudgetView;
  onChange: () => void;
}) {
  const remove = useAsked(
    async () => await call<null>('DELETE', `/v1/budgets/${encodeURIComponent(name)}`),
    () => 'Budget deleted.',
  );
  return (
    <>
      <button type="button" className="small" onClick={onChange}>
        Change…
      </button>{' '}
      <AskButton
        label="Delete…"
        className="small danger"
        title={`Delete the budget ${name}?`}
        confirm="Delete budget"
        onConfirm={() => remove(undefined)}
      >
        <p>Its alerts are resolved.</p>
      </AskButton>
    </>
  );
}
