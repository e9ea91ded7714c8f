import type { Setting } from './schema.ts';

/** A value as it may be shown on a screen or in a log. */
export function maskValue(setting: Setting, value: string | number | null): string | number | null {
  if (!setting.secret || typeof value !== 'string') return value;
  return setting.kind.type === 'url' ? maskUrl(value) : '***';
}

/** Keeps what helps to recognise a server; drops the password, and a query, which may hold one. */
export function maskUrl(url: string): string {
  if (!URL.canParse(url)) return '***';
  const { protocol, username, password, host, pathname } = new URL(url);
  const user = username === '' ? '' : `${username}${password === '' ? '' : ':***'}@`;
  return `${protocol}//${user}${host}${pathname}`;
}
