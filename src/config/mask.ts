import { databaseUrlText, parseDatabaseUrl } from '../core/values/database-url.ts';
import type { Setting } from './schema.ts';

/** The value without secrets, for screens and logs. */
export function maskValue(setting: Setting, value: string | number | null): string | number | null {
  if (!setting.secret || typeof value !== 'string') return value;
  return setting.kind.type === 'url' ? maskUrl(value) : '***';
}

/** Host, user, and the socket of a database. The password and the rest of the query are removed. */
export function maskUrl(text: string): string {
  const url = parseDatabaseUrl(text);
  if (url === null) return '***';
  if (url.password !== '') url.password = '***';
  const { searchParams: query } = url;
  const socket = ['host', 'port'].flatMap((name) => {
    const value = query.get(name);
    return value === null ? [] : [`${name}=${value}`];
  });
  url.search = '';
  url.hash = '';
  return databaseUrlText(url) + (socket.length === 0 ? '' : `?${socket.join('&')}`);
}
