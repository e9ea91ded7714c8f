import type { SessionView } from '../../../../src/core/identity/session-view.ts';

/** Whose session it is. */
export function sessionOwner({
  user,
  keyName,
  keyId,
}: Pick<SessionView, 'user' | 'keyName' | 'keyId'>): string {
  if (!user) return `Key ${keyName ?? keyId ?? ''}`.trim();
  return user.name ?? user.email ?? user.subject;
}

const BROWSERS = [
  [/\bEdg(e|A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/\b(Headless)?(Chrome|CriOS)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
] as const;

const SYSTEMS = [
  [/\bAndroid\b/, 'Android'],
  [/\b(iPhone|iPad)\b/, 'iOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
] as const;

/** `Firefox on Linux`, or the program itself; null when there is nothing to say. */
export function browserWords(userAgent: string | null): string | null {
  if (userAgent === null || userAgent === '') return null;
  const browser = BROWSERS.find(([shape]) => shape.test(userAgent))?.[1];
  const system = SYSTEMS.find(([shape]) => shape.test(userAgent))?.[1];
  if (browser === undefined) return userAgent.slice(0, 40);
  return system === undefined ? browser : `${browser} on ${system}`;
}
