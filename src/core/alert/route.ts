import { MINUTE_MS } from '../values/duration.ts';
import { CHATS } from '../webhook/chat.ts';
import type { DeliveryStatus, Send } from '../webhook/webhook.ts';
import type { AlertRuleName, AlertView } from './alert.ts';
import type { QuietHours } from './quiet-hours.ts';

/**
 * A route sends alerts to people: by e-mail or to a chat. Every route whose filters an alert passes
 * sends it, so there is no order of routes. A route without filters sends all alerts of the tenant;
 * one with `rules` or `owners` sends those. Who got the message that an alert fires gets the message
 * that it is resolved.
 */
export const ALERT_CHANNELS = ['email', ...CHATS] as const;
export type AlertChannel = (typeof ALERT_CHANNELS)[number];

export const ROUTE_NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;
export const RECIPIENTS_MAX = 20;
export const GROUP_SECONDS_DEFAULT = 60;
export const GROUP_SECONDS_MAX = 3_600;
/** Per tenant. */
export const ROUTES_MAX = 100;

/** The settings of a route, without its URL. */
export interface AlertRouteSpec {
  channel: AlertChannel;
  /** E-mail addresses; empty for a chat. */
  to: string[];
  /** Null: all rules. */
  rules: AlertRuleName[] | null;
  /** Owners of definitions; null: all, and alerts without an owner. */
  owners: string[] | null;
  /** Null: all definitions, and alerts about none. */
  definitionKeys: string[] | null;
  quietHours: QuietHours | null;
  /** Alerts of one rule that fire within this time are one message. */
  groupSeconds: number;
  enabled: boolean;
}

/** A route as shown by the API. The URL of a chat contains its secret and is never shown. */
export interface AlertRouteView extends AlertRouteSpec {
  name: string;
  tenant: string;
  /** The host of the chat's URL. */
  urlHost: string | null;
  createdAt: string;
  updatedAt: string;
}

/** The warning about a route by e-mail. The setting may be that of workers alone. */
export const NO_MAIL_SERVER =
  'This server has no mail server: set LONGSHORE_SMTP_URL for the workers, or no e-mail is sent.';

/** A saved route, and what it lacks. */
export interface SavedRouteView extends AlertRouteView {
  warnings: string[];
}

/** An address as SMTP takes it, without a name and without characters that separate addresses. */
export function isMailAddress(text: string): boolean {
  return text.length <= 254 && /^[^\s@<>(),;:"\\]+@[^\s@<>(),;:"\\]+$/.test(text);
}

/** What an alert is to the reader of a message; `over`: fired and resolved since the last one. */
export type AlertPhase = 'fired' | 'resolved' | 'over';

export interface AlertItem {
  phase: AlertPhase;
  alert: AlertView;
}

export const MESSAGE_KINDS = ['alerts', 'summary', 'test'] as const;
/** A `summary` has what quiet hours held back. */
export type MessageKind = (typeof MESSAGE_KINDS)[number];

/** The params of the job that sends a message. */
export interface AlertMessage {
  kind: MessageKind;
  /** The first alerts; `counts` has all. */
  items: AlertItem[];
  counts: Record<AlertPhase, number>;
}

/** The delays before retries of a message: a chat or mail server may be down for half a day. */
export const MESSAGE_DELAYS_MS = [
  5_000,
  30_000,
  ...[2, 10, 30, 60, 120, 240, 360].map((minutes) => minutes * MINUTE_MS),
];

/** A message and its sends, as shown by the API. */
export interface AlertMessageView {
  id: string;
  route: string;
  kind: MessageKind;
  subject: string;
  text: string;
  status: DeliveryStatus;
  /** For an e-mail the status is the reply code of SMTP. */
  attempts: Send[];
  createdAt: string;
  nextAttemptAt: string | null;
  finishedAt: string | null;
}

/** Reserved: definition keys begin with a letter or a digit. */
export const ALERT_KEY = '$alert';
