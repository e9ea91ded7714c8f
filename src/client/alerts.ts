import type { AlertRuleName, AlertRuleView, AlertStatus, AlertView } from '../core/views/alert.ts';
import { queryOf } from './http/query.ts';
import type { Transport } from './http/transport.ts';

/** An alert, and a rule, as the server shows them. */
export type Alert = AlertView;
export type AlertRule = AlertRuleView;

export interface AlertFilter {
  status?: AlertStatus | undefined;
  rule?: AlertRuleName | undefined;
  definitionKey?: string | undefined;
  cursor?: string | undefined;
  limit?: number | undefined;
}

export interface AlertPage {
  alerts: Alert[];
  nextCursor: string | null;
}

/** What is left out holds as it is said more generally. */
export interface AlertRuleOptions {
  /** For this definition only; null is all that have no rule of their own. */
  definitionKey?: string | null | undefined;
  enabled?: boolean | undefined;
  threshold?: number | undefined;
  windowSeconds?: number | undefined;
}

/** What is wrong, and when to say so: `client.alerts`. */
export class Alerts {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The newest first: one page. */
  async list(filter: AlertFilter = {}): Promise<AlertPage> {
    const call = { method: 'GET', path: '/v1/alerts', repeatable: true } as const;
    return await this.#transport.call({ ...call, query: queryOf(filter) });
  }

  async rules(): Promise<AlertRule[]> {
    const call = { method: 'GET', path: '/v1/alerts/rules', repeatable: true } as const;
    return (await this.#transport.call<{ rules: AlertRule[] }>(call)).rules;
  }

  /** Replaces what was said of the rule before. */
  async setRule(rule: AlertRuleName, options: AlertRuleOptions): Promise<AlertRule> {
    const call = { method: 'PUT', path: pathOf(rule), repeatable: true } as const;
    return await this.#transport.call({ ...call, body: options });
  }

  /** Takes that back: the configuration, or the default, holds again. */
  async unsetRule(
    rule: AlertRuleName,
    scope: { definitionKey?: string | undefined } = {},
  ): Promise<void> {
    const call = { method: 'DELETE', path: pathOf(rule), repeatable: false } as const;
    await this.#transport.call({ ...call, query: queryOf(scope) });
  }
}

/** A dot would be taken for a step in the path. */
function pathOf(rule: string): string {
  if (/^\.{0,2}$/.test(rule)) throw new TypeError(`"${rule}" is no name of a rule`);
  return `/v1/alerts/rules/${encodeURIComponent(rule)}`;
}
