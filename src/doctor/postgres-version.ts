import { type Check, ok, problem } from './check.ts';

const MAJOR_MIN = 15;

export function judgePostgresVersion(version: string): Check {
  if (Number.parseInt(version, 10) >= MAJOR_MIN) return ok('postgres-version', version);
  const fix = `upgrade to PostgreSQL ${MAJOR_MIN} or newer, or set DATABASE_URL to such a server`;
  return problem('postgres-version', `${version} is too old`, fix);
}
