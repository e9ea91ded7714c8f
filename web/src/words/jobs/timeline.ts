import type { AttemptView } from '../../../../src/core/views/history.ts';

/** Position of an attempt on an axis of 100 units. */
export interface Span {
  left: number;
  width: number;
}

/** Minimum width, so that a short attempt is visible. */
const WIDTH_MIN = 1.5;

export function spans(attempts: readonly AttemptView[], now: Date): Span[] {
  const times = attempts.map(({ startedAt, finishedAt }) => ({
    from: Date.parse(startedAt),
    to: finishedAt === null ? now.getTime() : Date.parse(finishedAt),
  }));
  const first = Math.min(...times.map(({ from }) => from));
  const whole = Math.max(1, Math.max(...times.map(({ to }) => to)) - first);
  return times.map(({ from, to }) => {
    const width = Math.max(WIDTH_MIN, ((to - from) / whole) * 100);
    return { left: Math.min(((from - first) / whole) * 100, 100 - width), width };
  });
}

export function outcomeWords({ outcome }: Pick<AttemptView, 'outcome'>): string {
  if (outcome === null) return 'Running';
  if (outcome === 'queued') return 'Requeued';
  if (outcome === 'scheduled') return 'Snoozed';
  return `${outcome[0]?.toUpperCase() ?? ''}${outcome.slice(1)}`;
}
