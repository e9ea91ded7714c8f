import type { DefinitionLimitsView, PauseView } from '../core/queue/limit-view.ts';
import type { LimitsChange } from '../core/queue/limits.ts';
import type { Transport } from './http/transport.ts';

export type Pause = PauseView;
export type DefinitionLimits = DefinitionLimitsView;
export type { LimitsChange };

/** What to pause: a definition with all its versions, a tenant, or everything. */
export type FlowTarget = { definition: string } | { tenant: string } | { all: true };

export interface TenantLimitsChange {
  /** 0 lifts the limit, null takes back what was set. */
  concurrencyLimit?: number | null | undefined;
  /** Its share of the claims among tenants whose jobs are as urgent; 1 is usual. */
  weight?: number | undefined;
}

/** How much goes on at a time: `client.flow`. */
export class Flow {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** No job of it starts until it is resumed; what runs goes on. */
  async pause(target: FlowTarget, reason?: string): Promise<Pause> {
    const path = `${pathOf(target)}/pause`;
    const body = reason === undefined ? {} : { reason };
    return await this.#transport.call({ method: 'POST', path, body, repeatable: true });
  }

  /** Answers with the pause that is over; null when there was none. */
  async resume(target: FlowTarget): Promise<Pause | null> {
    const call = { method: 'POST', path: `${pathOf(target)}/resume`, repeatable: true } as const;
    return (await this.#transport.call<{ resumed: Pause | null }>(call)).resumed;
  }

  async pauses(): Promise<Pause[]> {
    const call = { method: 'GET', path: '/v1/pauses', repeatable: true } as const;
    return (await this.#transport.call<{ pauses: Pause[] }>(call)).pauses;
  }

  /** What is said here wins over the code until it is set to null; 0 lifts a limit. */
  async limit(definition: string, change: LimitsChange): Promise<DefinitionLimits> {
    const path = `${pathOf({ definition })}/limits`;
    return await this.#transport.call({ method: 'PATCH', path, body: change, repeatable: true });
  }
}

/** A dot would be taken for a step in the path, so that it is not sent at all. */
function pathOf(target: FlowTarget): string {
  if ('all' in target) return '/v1';
  const [kind, name] =
    'tenant' in target ? ['tenants', target.tenant] : ['definitions', target.definition];
  if (/^\.{0,2}$/.test(name)) throw new TypeError(`"${name}" is no name of a definition or tenant`);
  return `/v1/${kind}/${encodeURIComponent(name)}`;
}

export function tenantPath(tenant: string): string {
  return pathOf({ tenant });
}
