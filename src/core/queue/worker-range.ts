/** How many worker processes `longshore start` may have. */
export interface WorkerRange {
  min: number;
  max: number;
}

export const WORKERS_MAX = 64;

const SHAPE = /^(\d{1,3})(?:\.\.(\d{1,3}))?$/;

/** `3`, `1..4` or `auto`, which is one to a process per core; null when it is none of them. */
export function parseWorkerRange(text: string, cores: number): WorkerRange | null {
  if (text.trim() === 'auto') return { min: 1, max: Math.min(WORKERS_MAX, Math.max(1, cores)) };
  const [, low, high = low] = SHAPE.exec(text.trim()) ?? [];
  if (low === undefined) return null;
  const [min, max] = [Number(low), Number(high)];
  return min >= 1 && min <= max && max <= WORKERS_MAX ? { min, max } : null;
}
