import type { DefinitionLimitsView, PauseView } from '../core/queue/limit-view.ts';
import type { LimitsChange } from '../core/queue/limits.ts';
import type { Transport } from './http/transport.ts';

export type Pause = PauseView;

/** A new pause, and the one that was there already: its reason stays unless a new one is given. */
export interface Paused extends PauseView {
  before: PauseView | null;
}
export type DefinitionLimits = DefinitionLimitsView;
export type { LimitsChange };

/** What to pause: a definition with all its versions, a tenant, or everything. */
export type FlowTarget = { definition: string } | { tenant: string } | { all: true };

export interface TenantLimitsChange {
  /** 0 removes the limit, null restores that of the code. */
  concurrencyLimit?: number | null | undefined;
  /** Its share of the claims among tenants with jobs of the same priority; default 1. */
  weight?: number | undefined;
}

/** Flow control: pauses and limits. `client.flow`. */
export class Flow {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** No job of it starts until it is resumed; running jobs finish. */
  async pause(target: FlowTarget, reason?: string): Promise<Paused> {
    const path = `${pathOf(target)}/pause`;
    const body = reason === undefined ? {} : { reason };
    return await this.#transport.call({ method: 'POST', path, body, repeatable: true });
  }

  /** Returns the pause that ended; null when there was none. */
  async resume(target: FlowTarget): Promise<Pause | null> {
    const call = { method: 'POST', path: `${pathOf(target)}/resume`, repeatable: true } as const;
    return (await this.#transport.call<{ resumed: Pause | null }>(call)).resumed;
  }

  async pauses(): Promise<Pause[]> {
    const call = { method: 'GET', path: '/v1/pauses', repeatable: true } as const;
    return (await this.#transport.call<{ pauses: Pause[] }>(call)).pauses;
  }

  /** Replaces the limits of the code until set to null; 0 removes a limit. */
  async limit(definition: string, change: LimitsChange): Promise<DefinitionLimits> {
    const path = `${pathOf({ definition })}/limits`;
    return await this.#transport.call({ method: 'PATCH', path, body: change, repeatable: true });
  }
}

/** A dot would change the path, so no request is sent. */
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
