import type { TenantView } from '../views/key-view.ts';
import type { DefinitionLimitsView } from '../queue/limit-view.ts';

/** What matters here of the tenant that a job belongs to. */
export type TenantUse = Pick<TenantView, 'tenant' | 'concurrencyLimit' | 'inUse'>;

export interface LimitedWorld {
  definitions: readonly {
    key: string;
    limits: Pick<DefinitionLimitsView, 'effective' | 'inUse'>;
  }[];
  /** The tenant of the jobs; null if the server did not answer for it. */
  tenant: TenantUse | null;
}

/** A concurrency limit that no more job of the definition passes. */
export interface ReachedLimit {
  of: 'tenant' | 'definition';
  name: string;
  limit: number;
  inUse: number;
}

/** The limit of the tenant first: it holds for all definitions. Null if none is reached. */
export function reachedLimit(
  definitionKey: string,
  { tenant, definitions }: LimitedWorld,
): ReachedLimit | null {
  const limits = definitions.find(({ key }) => key === definitionKey)?.limits;
  return (
    reached('tenant', tenant?.tenant ?? '', tenant?.concurrencyLimit ?? null, tenant?.inUse) ??
    reached(
      'definition',
      definitionKey,
      limits?.effective.concurrencyLimit ?? null,
      limits?.inUse ?? 0,
    )
  );
}

/** Such as "tenant acme may run 1 job at a time". */
export function limitReason({ of, name, limit }: ReachedLimit): string {
  return `${of} ${name} may run ${jobs(limit)} at a time`;
}

/** Such as "Tenant acme runs 1 of at most 1 job at a time." */
export function limitFact({ of, name, limit, inUse }: ReachedLimit): string {
  const who = of === 'tenant' ? 'Tenant' : 'Definition';
  return `${who} ${name} runs ${inUse} of at most ${jobs(limit)} at a time.`;
}

function reached(
  of: ReachedLimit['of'],
  name: string,
  limit: number | null,
  inUse = 0,
): ReachedLimit | null {
  return limit === null || inUse < limit ? null : { of, name, limit, inUse };
}

function jobs(count: number): string {
  return count === 1 ? '1 job' : `${count.toLocaleString('en')} jobs`;
}
