import { FIRST_SHAPE } from './upgrade.ts';
import type { JobView } from '../job/job.ts';

type Shapes = Pick<JobView, 'paramsShape' | 'currentParamsShape'>;

/** The shape of the params of a job, next to that of the code; null while there is only one. */
export function shapeWords({
  paramsShape: shape = FIRST_SHAPE,
  currentParamsShape: current = null,
}: Partial<Shapes>): string | null {
  if (shape === FIRST_SHAPE && (current ?? FIRST_SHAPE) === FIRST_SHAPE) return null;
  if (current === null || shape === current) return String(shape);
  return shape < current
    ? `${shape} (the code has ${current}, and upgrades them when the job starts)`
    : `${shape} (the code has ${current}: the job waits for newer code)`;
}
