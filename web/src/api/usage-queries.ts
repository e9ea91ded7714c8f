import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { BudgetView } from '../../../src/core/usage/budget.ts';
import type { UsageGroup, UsageView } from '../../../src/core/usage/usage.ts';
import { now } from '../runtime/clock.ts';
import { daysOf, type UsageSearch } from '../words/usage/usage-range.ts';
import { type Query, read, readList } from './call.ts';
import { pollMs } from './connection.ts';

const LATER_MS = 10_000;

/** The query of the API. */
export function usageAsked(search: UsageSearch, groupBy: readonly UsageGroup[]): Query {
  return {
    ...daysOf(search, now()),
    groupBy: groupBy.join(),
    definitionKey: search.definition,
    ...(search.tenants === 'all' && { allTenants: 'true' }),
  };
}

export const usageQuery = (search: UsageSearch, groupBy: readonly UsageGroup[]) => {
  const query = usageAsked(search, groupBy);
  return queryOptions({
    queryKey: ['usage', query],
    queryFn: read<UsageView>('/v1/usage', query),
    placeholderData: keepPreviousData,
    refetchInterval: () => pollMs(LATER_MS),
  });
};

export const budgetsQuery = () =>
  queryOptions({
    queryKey: ['budgets'],
    queryFn: readList<BudgetView>('budgets', '/v1/budgets'),
    refetchInterval: () => pollMs(LATER_MS),
  });
