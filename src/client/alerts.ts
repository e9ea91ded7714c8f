import type {
  AlertRuleName,
  AlertRuleView,
  AlertSeverity,
  AlertStatus,
  AlertView,
} from '../core/alert/alert.ts';
import type { QuietHours } from '../core/alert/quiet-hours.ts';
import type {
  AlertChannel,
  AlertMessageView,
  AlertRouteView,
  SavedRouteView,
} from '../core/alert/route.ts';
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

/** For an omitted field the more general rule applies. */
export interface AlertRuleOptions {
  /** For this definition only; null for all definitions without their own rule. */
  definitionKey?: string | null | undefined;
  enabled?: boolean | undefined;
  threshold?: number | undefined;
  windowSeconds?: number | undefined;
  severity?: AlertSeverity | undefined;
}

/** Where alerts are sent, and a message to there, as the server shows them. */
export type AlertRoute = AlertRouteView;
export type SavedAlertRoute = SavedRouteView;
export type AlertMessage = AlertMessageView;

export interface QuietHoursOptions extends Pick<QuietHours, 'from' | 'to'> {
  /** Default UTC. */
  timezone?: string | undefined;
  /** Default null: every day. */
  days?: QuietHours['days'] | undefined;
}

export interface AlertRouteOptions {
  channel: AlertChannel;
  /** E-mail addresses. */
  to?: string[] | undefined;
  /** The URL of a chat's incoming webhook; omitted, it stays as it is. */
  url?: string | undefined;
  rules?: AlertRuleName[] | null | undefined;
  owners?: string[] | null | undefined;
  definitionKeys?: string[] | null | undefined;
  quietHours?: QuietHoursOptions | null | undefined;
  groupSeconds?: number | undefined;
  enabled?: boolean | undefined;
}

export interface AlertMessagePage {
  messages: AlertMessage[];
  nextCursor: string | null;
}

/** Alerts and their rules: `client.alerts`. */
export class Alerts {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** One page, the newest first. */
  async list(filter: AlertFilter = {}): Promise<AlertPage> {
    const call = { method: 'GET', path: '/v1/alerts', repeatable: true } as const;
    return await this.#transport.call({ ...call, query: queryOf(filter) });
  }

  /** Sends nothing about a firing alert for so long, or until it is resolved. */
  async silence(id: string, { seconds = null }: { seconds?: number | null } = {}): Promise<Alert> {
    const path = `/v1/alerts/${encodeURIComponent(id)}/silence`;
    return await this.#transport.call({ method: 'PUT', path, body: { seconds }, repeatable: true });
  }

  /** Ends the silence of an alert. */
  async unsilence(id: string): Promise<Alert> {
    const path = `/v1/alerts/${encodeURIComponent(id)}/silence`;
    return await this.#transport.call({ method: 'DELETE', path, repeatable: false });
  }

  async rules(): Promise<AlertRule[]> {
    const call = { method: 'GET', path: '/v1/alerts/rules', repeatable: true } as const;
    return (await this.#transport.call<{ rules: AlertRule[] }>(call)).rules;
  }

  /** Replaces the earlier settings of the rule. */
  async setRule(rule: AlertRuleName, options: AlertRuleOptions): Promise<AlertRule> {
    const call = { method: 'PUT', path: pathOf(rule), repeatable: true } as const;
    return await this.#transport.call({ ...call, body: options });
  }

  /** Removes the settings; then the configuration or the default applies. */
  async unsetRule(
    rule: AlertRuleName,
    scope: { definitionKey?: string | undefined } = {},
  ): Promise<void> {
    const call = { method: 'DELETE', path: pathOf(rule), repeatable: false } as const;
    await this.#transport.call({ ...call, query: queryOf(scope) });
  }

  async routes(): Promise<AlertRoute[]> {
    const call = { method: 'GET', path: '/v1/alerts/routes', repeatable: true } as const;
    return (await this.#transport.call<{ routes: AlertRoute[] }>(call)).routes;
  }

  /** Creates or replaces a route. */
  async setRoute(name: string, options: AlertRouteOptions): Promise<SavedAlertRoute> {
    const call = { method: 'PUT', path: pathOf(name, 'routes'), repeatable: true } as const;
    return await this.#transport.call({ ...call, body: options });
  }

  async deleteRoute(name: string): Promise<void> {
    const path = pathOf(name, 'routes');
    await this.#transport.call({ method: 'DELETE', path, repeatable: false });
  }

  /** Sends a test message; `messages` has the result. */
  async testRoute(name: string): Promise<{ messageId: string }> {
    const path = `${pathOf(name, 'routes')}/test`;
    return await this.#transport.call({ method: 'POST', path, repeatable: false });
  }

  /** One page, the newest first. */
  async messages(
    name: string,
    page: { cursor?: string; limit?: number } = {},
  ): Promise<AlertMessagePage> {
    const path = `${pathOf(name, 'routes')}/messages`;
    return await this.#transport.call({
      method: 'GET',
      path,
      query: queryOf(page),
      repeatable: true,
    });
  }
}

/** A dot would change the path. */
function pathOf(name: string, of: 'rules' | 'routes' = 'rules'): string {
  if (/^\.{0,2}$/.test(name)) throw new TypeError(`"${name}" is no name of a ${of.slice(0, -1)}`);
  return `/v1/alerts/${of}/${encodeURIComponent(name)}`;
}
