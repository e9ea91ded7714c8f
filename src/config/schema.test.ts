import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { maskUrl, maskValue } from './mask.ts';
import { configurationPage } from './page.ts';
import { flagOf, SETTINGS } from './schema.ts';

test('docs/configuration.md is what the table says: run node scripts/config-docs.ts', () => {
  const page = readFileSync(new URL('../../docs/configuration.md', import.meta.url), 'utf8');
  expect(page).toBe(configurationPage());
});

test('no name is used twice', () => {
  const names = SETTINGS.flatMap((setting) => [setting.env, ...(setting.aliases ?? [])]);
  expect(new Set(names).size).toBe(names.length);
});

test('flags follow the key, and secrets have none', () => {
  const flags = Object.fromEntries(SETTINGS.map((setting) => [setting.key, flagOf(setting)]));
  expect(flags).toMatchObject({ leaseMs: '--lease-ms', cancelGraceMs: '--cancel-grace-ms' });
  expect(flags).toMatchObject({ databaseUrl: null, apiKey: null });
});

test('a masked URL tells the server apart and gives nothing away', () => {
  expect(maskUrl('postgres://u:p@db:5432/jobs?password=q')).toBe('postgres://u:***@db:5432/jobs');
  expect(maskUrl('postgres:///jobs?host=/tmp')).toBe('postgres:///jobs?host=/tmp');
  expect(maskUrl('postgres://u:p@/jobs?host=/app/pg&port=20123&sslpassword=q')).toBe(
    'postgres://u:***@/jobs?host=/app/pg&port=20123',
  );
  expect(maskUrl('not a url')).toBe('***');
  const apiKey = SETTINGS.find((setting) => setting.key === 'apiKey')!;
  expect(maskValue(apiKey, 'lsk_1')).toBe('***');
  expect(maskValue(apiKey, null)).toBeNull();
});
