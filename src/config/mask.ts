import type { Setting } from './schema.ts';

/** The value without secrets, for screens and logs. */
export function maskValue(setting: Setting, value: string | number | null): string | number | null {
  if (!setting.secret || typeof value !== 'string') return value;
  return setting.kind.type === 'url' ? maskUrl(value) : '***';
}

/** Keeps host and user; removes the password and the query, which may contain one. */
export function maskUrl(url: string): string {
  if (!URL.canParse(url)) return '***';
  const { protocol, username, password, host, pathname } = new URL(url);
  const user = username === '' ? '' : `${username}${password === '' ? '' : ':***'}@`;
  return `${protocol}//${user}${host}${pathname}`;
}
