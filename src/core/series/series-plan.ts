import { DAY_MS, HOUR_MS, MINUTE_MS } from '../values/duration.ts';

/** The key of all definitions of a tenant together, in `counter_series`. */
export const TOTAL_KEY = '';

/** The slots of the stored series, and how long they are kept. `/v1/stats` shows a day of minutes. */
export const STEPS = [
  { minutes: 1, keptHours: 25 },
  { minutes: 15, keptHours: 8 * 24 + 1 },
  { minutes: 60, keptHours: 31 * 24 + 1 },
] as const;

export const SERIES_DAYS_MAX = 31;
/** Points between which a chart can still be read. */
export const POINTS_MAX = 120;

/** The steps of a chart: whole numbers of stored slots. */
const SHOWN_MINUTES = [1, 5, 15, 60, 120, 360, 720, 1_440] as const;

/** Which stored slots to read, and the points that they become. */
export interface SeriesPlan {
  /** Aligned to the step; `toMs` is the end of the last point, which may not be over. */
  fromMs: number;
  toMs: number;
  stepMs: number;
  /** The length of the stored slots. */
  slotMinutes: number;
}

/**
 * From when on the slots of each step tell the depth, shortest first. It depends on `at` alone, so that
 * a longer range sees every peak that a shorter one sees.
 */
export function depthParts(at: Date): { minutes: number; fromMs: number }[] {
  return STEPS.map(({ minutes, keptHours }) => {
    const keptMs = at.getTime() - (keptHours - 1) * HOUR_MS;
    return { minutes, fromMs: Math.floor(keptMs / HOUR_MS) * HOUR_MS };
  });
}

/** Null if the range is empty, or begins before what is kept. */
export function planSeries(from: Date, to: Date, at: Date): SeriesPlan | null {
  const fromMs = from.getTime();
  const toMs = Math.min(to.getTime(), at.getTime());
  const ageMs = at.getTime() - fromMs;
  if (fromMs >= toMs || ageMs > SERIES_DAYS_MAX * DAY_MS) return null;
  const stored = STEPS.filter(({ keptHours }) => ageMs <= (keptHours - 1) * HOUR_MS);
  const [finest] = stored;
  if (!finest) return null;
  const shown =
    SHOWN_MINUTES.filter((minutes) => minutes >= finest.minutes).find(
      (minutes) => (toMs - fromMs) / (minutes * MINUTE_MS) <= POINTS_MAX,
    ) ?? 1_440;
  const slotMinutes = stored.findLast(({ minutes }) => minutes <= shown)?.minutes ?? finest.minutes;
  const stepMs = shown * MINUTE_MS;
  return {
    fromMs: Math.floor(fromMs / stepMs) * stepMs,
    toMs: (Math.floor((toMs - 1) / stepMs) + 1) * stepMs,
    stepMs,
    slotMinutes,
  };
}
