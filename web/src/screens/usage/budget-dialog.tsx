import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import {
  BUDGET_PERIODS,
  type BudgetMeasure,
  type BudgetPeriod,
  type BudgetView,
} from '../../../../src/core/usage/budget.ts';
import { call } from '../../api/call.ts';
import { definitionsQuery } from '../../api/queries.ts';
import { useAsked } from '../../api/use-change.ts';
import { Ask } from '../../parts/ask.tsx';
import { newestVersions } from '../../words/queues/definition-words.ts';
import { budgetProblem } from '../../words/usage/usage-words.ts';

const UNITS: Record<BudgetMeasure, string> = {
  cpuSeconds: 'CPU seconds',
  runSeconds: 'Seconds of run time',
  jobs: 'Jobs',
};

/** The fields as they are typed. */
function typedOf(budget: BudgetView | null, definitionKey: string | null) {
  return {
    name: budget?.name ?? '',
    definitionKey: (budget ? budget.definitionKey : definitionKey) ?? '',
    measure: budget?.measure ?? 'cpuSeconds',
    period: budget?.period ?? 'day',
    amount: String(budget?.amount ?? ''),
  };
}

export function BudgetDialog({
  budget,
  definitionKey,
  onClose,
}: {
  budget: BudgetView | null;
  definitionKey: string | null;
  onClose: () => void;
}) {
  const [typed, setTyped] = useState(() => typedOf(budget, definitionKey));
  const [wrong, setWrong] = useState<string | null>(null);
  const { data: definitions = [] } = useQuery(definitionsQuery());
  const set = (change: Partial<typeof typed>) => setTyped((before) => ({ ...before, ...change }));
  const keys = newestVersions(definitions).map(({ key }) => key);
  if (typed.definitionKey !== '' && !keys.includes(typed.definitionKey)) {
    keys.push(typed.definitionKey);
  }
  const save = useAsked(
    async () =>
      await call<BudgetView>('PUT', `/v1/budgets/${encodeURIComponent(typed.name.trim())}`, {
        body: {
          definitionKey: typed.definitionKey === '' ? null : typed.definitionKey,
          measure: typed.measure,
          period: typed.period,
          amount: Number(typed.amount),
        },
      }),
    () => 'Budget saved.',
  );
  const confirm = () => {
    const problem = budgetProblem(typed);
    setWrong(problem);
    return problem === null ? save(undefined) : ('stay' as const);
  };
  return (
    <Ask
      title={budget === null ? 'New budget' : `Budget ${budget.name}`}
      confirm="Save"
      tone="primary"
      onConfirm={confirm}
      onClose={onClose}
    >
      <p className="soft">
        Alerts fire when 80 % and 100 % are used, once per day or month (UTC). No job is stopped.
      </p>
      {budget === null && (
        <label className="field">
          <span>Name</span>
          <input
            value={typed.name}
            placeholder="reports-cpu"
            onChange={({ target }) => set({ name: target.value })}
          />
        </label>
      )}
      <label className="field">
        <span>Definition</span>
        <select
          value={typed.definitionKey}
          onChange={({ target }) => set({ definitionKey: target.value })}
        >
          <option value="">All jobs</option>
          {keys.map((key) => (
            <option key={key}>{key}</option>
          ))}
        </select>
      </label>
      <label className="field">
        <span>Measure</span>
        <select
          value={typed.measure}
          onChange={({ target }) => set({ measure: target.value as BudgetMeasure })}
        >
          {Object.entries(UNITS).map(([measure, title]) => (
            <option key={measure} value={measure}>
              {title}
            </option>
          ))}
        </select>
      </label>
      <label className="field">
        <span>Amount</span>
        <input
          inputMode="decimal"
          value={typed.amount}
          onChange={({ target }) => set({ amount: target.value })}
        />
      </label>
      <label className="field">
        <span>Per</span>
        <select
          value={typed.period}
          onChange={({ target }) => set({ period: target.value as BudgetPeriod })}
        >
          {BUDGET_PERIODS.map((period) => (
            <option key={period}>{period}</option>
          ))}
        </select>
      </label>
      <p role="alert" className="wrong">
        {wrong}
      </p>
    </Ask>
  );
}
