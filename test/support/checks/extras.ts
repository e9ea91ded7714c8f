import { existsSync } from 'node:fs';

/**
 * Programs from Debian packages that some tests need, and where they are. A machine without one skips
 * those tests. CI sets TEST_EXTRAS=required, so that a missing package fails there.
 */
export const EXTRAS = {
  'postgresql-15': '/usr/lib/postgresql/15/bin/postgres',
  pgbouncer: '/usr/sbin/pgbouncer',
  'redis-server': '/usr/bin/redis-server',
  'rabbitmq-server': '/usr/lib/rabbitmq/bin/rabbitmq-server',
  kcat: '/usr/bin/kcat',
  python3: '/usr/bin/python3',
  'golang-go': '/usr/bin/go',
} as const;

export type Extra = keyof typeof EXTRAS;

/** The extension Citus in Debian's PostgreSQL 15. It is no package: it is built from its sources. */
const CITUS = '/usr/share/postgresql/15/extension/citus.control';

export function hasCitus(): boolean {
  return existsSync(EXTRAS['postgresql-15']) && existsSync(CITUS);
}

const REQUIRED = process.env['TEST_EXTRAS'] === 'required';

export function isInstalled(extra: Extra): boolean {
  if (existsSync(EXTRAS[extra])) return true;
  if (REQUIRED) throw new Error(`${EXTRAS[extra]} is missing: install Debian's package ${extra}`);
  return false;
}

/** One line for each package whose tests this run skips. */
export function reportMissingExtras(): void {
  for (const extra of Object.keys(EXTRAS) as Extra[]) {
    if (!isInstalled(extra)) reportSkipped(`tests with ${extra}`, extra);
  }
  if (!hasCitus()) process.stderr.write('skipped: tests on Citus (build it into PostgreSQL 15)\n');
}

export function reportSkipped(what: string, debianPackage: string): void {
  process.stderr.write(
    `skipped: ${what} (install Debian's package ${debianPackage} to run them)\n`,
  );
}

/** Fails a run in which nothing may be skipped. */
export function refuseToSkip(what: string, cause: unknown): void {
  if (REQUIRED) throw new Error(`${what} cannot run here`, { cause });
}
