import type { AlertView } from './alert.ts';
import { isQuiet } from './quiet-hours.ts';
import type { AlertItem, AlertMessage, AlertPhase, AlertRouteSpec } from './route.ts';

/** What a route has still to say about an alert. */
export interface Notice {
  alert: AlertView;
  /** Whether its group has waited long enough. */
  due: boolean;
  /** Whether a message said that it fires. */
  notified: boolean;
  /** Whether quiet hours held it back. */
  held: boolean;
}

export interface Plan {
  messages: { message: AlertMessage; notices: readonly Notice[] }[];
  /** Those that quiet hours hold back from now on. */
  hold: Notice[];
}

/** The most alerts that a message lists. */
export const LISTED_MAX = 20;

/**
 * Turns the notices of one route into messages. Alerts of one rule are one message, as soon as one of
 * them is due. During quiet hours only critical ones are sent; afterwards the rest is one summary.
 */
export function planMessages(
  { quietHours }: Pick<AlertRouteSpec, 'quietHours'>,
  notices: readonly Notice[],
  now: Date,
): Plan {
  const quiet = quietHours !== null && isQuiet(quietHours, now);
  const sendable = notices.filter(({ alert }) => !quiet || alert.severity === 'critical');
  const [held, fresh] = [
    sendable.filter((notice) => notice.held),
    sendable.filter((notice) => !notice.held),
  ];
  const groups = [...Map.groupBy(fresh, ({ alert }) => alert.rule).values()];
  const due = groups.filter((group) => group.some((notice) => notice.due));
  return {
    messages: [
      ...due.map((group) => ({ message: messageOf('alerts', group), notices: group })),
      ...(held.length > 0 ? [{ message: messageOf('summary', held), notices: held }] : []),
    ],
    hold: notices.filter((one) => one.due && !one.held && !sendable.includes(one)),
  };
}

function messageOf(kind: 'alerts' | 'summary', notices: readonly Notice[]): AlertMessage {
  const items = notices.map(itemOf).toSorted(byUrgency);
  const count = (phase: AlertPhase) => items.filter((item) => item.phase === phase).length;
  const counts = { fired: count('fired'), resolved: count('resolved'), over: count('over') };
  return { kind, items: items.slice(0, LISTED_MAX), counts };
}

function itemOf({ alert, notified }: Notice): AlertItem {
  if (alert.status === 'firing') return { phase: 'fired', alert };
  return { phase: notified ? 'resolved' : 'over', alert };
}

const ORDER: readonly AlertPhase[] = ['fired', 'resolved', 'over'];

function byUrgency(one: AlertItem, other: AlertItem): number {
  const phase = ORDER.indexOf(one.phase) - ORDER.indexOf(other.phase);
  const critical = Number(isCritical(other)) - Number(isCritical(one));
  return phase || critical || (one.alert.since < other.alert.since ? -1 : 1);
}

function isCritical({ alert }: AlertItem): boolean {
  return alert.severity === 'critical';
}
