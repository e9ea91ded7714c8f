import type { AlertView } from './alert.ts';
import type { AlertItem, AlertMessage, AlertPhase } from './route.ts';
import { type Chat, chatEscape } from '../webhook/chat.ts';
import { DEFAULT_TENANT } from '../access/scope.ts';

/** A message for people. */
export interface MessageText {
  subject: string;
  text: string;
}

const TEST: MessageText = {
  subject: 'Test',
  text: 'Longshore can send alerts here.',
};

/** How a medium writes values and links. */
export interface TextStyle {
  escape(value: string): string;
  link(url: string): string;
}

const PLAIN: TextStyle = { escape: (value) => value, link: (url) => url };

/** `publicUrl` is the address of the dashboard, for links. */
export function messageText(
  { kind, items, counts }: AlertMessage,
  publicUrl: string | null,
  style: TextStyle = PLAIN,
): MessageText {
  if (kind === 'test') return TEST;
  const parts = items.map((item) => itemText(item, publicUrl, style));
  const more = counts.fired + counts.resolved + counts.over - items.length;
  const rest = more === 0 ? [] : [`… and ${more} more: see the list of alerts`];
  const link = publicUrl === null || items.length === 1 ? [] : [`${uiOf(publicUrl)}/alerts`];
  const text = [...parts, ...rest, ...link].join('\n\n');
  const [only] = items;
  const subject =
    only && items.length === 1 && more === 0 ? subjectOf(only) : subjectOfMany(items, counts);
  const heading = kind === 'summary' ? `After quiet hours: ${subject}` : subject;
  return { subject: style.escape(heading), text };
}

export function chatStyle(chat: Chat): TextStyle {
  return {
    escape: (value) => chatEscape(chat, value),
    // What a chat would take for layout is percent-encoded: a backslash would break the link.
    link: (url) =>
      url.replaceAll(/[\\*_~`|<>[\]()]/g, (sign) => {
        return `%${sign.charCodeAt(0).toString(16).toUpperCase()}`;
      }),
  };
}

const HEADINGS: Record<AlertPhase, string> = {
  fired: 'Alert',
  resolved: 'Resolved',
  over: 'Fired and resolved',
};

function subjectOf({ phase, alert }: AlertItem): string {
  const heading = phase === 'fired' && isCritical(alert) ? 'Critical alert' : HEADINGS[phase];
  const about = alert.definitionKey === null ? '' : `: ${alert.definitionKey}`;
  return `${heading}: ${alert.rule}${about}`;
}

/** `2 alerts (1 critical), 1 resolved: dead-letters`. */
function subjectOfMany(items: readonly AlertItem[], counts: AlertMessage['counts']): string {
  const critical = items.filter(
    ({ phase, alert }) => phase === 'fired' && isCritical(alert),
  ).length;
  const parts = [
    counts.fired > 0 &&
      `${counts.fired} alert${counts.fired === 1 ? '' : 's'}${critical > 0 ? ` (${critical} critical)` : ''}`,
    counts.resolved > 0 && `${counts.resolved} resolved`,
    counts.over > 0 && `${counts.over} fired and resolved`,
  ].filter((part) => part !== false);
  const rules = new Set(items.map(({ alert }) => alert.rule));
  return parts.join(', ') + (rules.size === 1 ? `: ${[...rules].join('')}` : '');
}

function itemText(
  { phase, alert }: AlertItem,
  publicUrl: string | null,
  { escape, link }: TextStyle,
): string {
  const critical = isCritical(alert) ? 'Critical: ' : '';
  const heading = phase === 'fired' ? critical : `${HEADINGS[phase]}: `;
  const facts = [
    ['since', alert.since],
    ['resolved', alert.resolvedAt],
    ['definition', alert.definitionKey],
    ['owner', alert.owner],
    ['tenant', alert.tenant === DEFAULT_TENANT ? null : alert.tenant],
  ].map(([name, value]) => (value ? `${name}: ${escape(value)}` : null));
  const links = [
    ['runbook', alert.runbookUrl],
    ['link', publicUrl === null ? null : linkOf(alert, publicUrl)],
  ].map(([name, url]) => (url ? `${name}: ${link(url)}` : null));
  const lines = [escape(heading + alert.message), ...facts, ...links];
  return lines.filter((line) => line !== null).join('\n');
}

/** The screen of what the alert is about. */
function linkOf({ jobId, scheduleId, definitionKey }: AlertView, publicUrl: string): string {
  const ui = uiOf(publicUrl);
  if (jobId !== null) return `${ui}/jobs/${jobId}`;
  if (scheduleId !== null) return `${ui}/schedules/${scheduleId}`;
  if (definitionKey !== null) return `${ui}/definitions/${encodeURIComponent(definitionKey)}`;
  return `${ui}/alerts`;
}

function uiOf(publicUrl: string): string {
  return `${publicUrl.replace(/\/+$/, '')}/ui`;
}

function isCritical({ severity }: AlertView): boolean {
  return severity === 'critical';
}
