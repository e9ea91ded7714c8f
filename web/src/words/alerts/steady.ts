/**
 * Rows that are being pointed at stay where they are: each is brought up to date in its place, and
 * what is new is counted until somebody wants to see it.
 */
export function steady<Row extends { jobId: string }>(
  held: readonly Row[],
  fresh: readonly Row[],
): { rows: Row[]; news: number } {
  const newer = new Map(fresh.map((row) => [row.jobId, row]));
  const known = new Set(held.map(({ jobId }) => jobId));
  return {
    rows: held.map((row) => newer.get(row.jobId) ?? row),
    news: fresh.filter(({ jobId }) => !known.has(jobId)).length,
  };
}
