import type { LimitedJobs } from './limited-slots.ts';

/** Such as "321 jobs wait for the limit of tenant acme; more slots do not help." */
export function limitedWords({ of, name, waiting }: LimitedJobs): string {
  const jobs = waiting === 1 ? '1 job waits' : `${waiting.toLocaleString('en')} jobs wait`;
  return `${jobs} for the limit of ${of} ${name}; more slots do not help.`;
}
