/**
 * Rows under the pointer keep their positions: each is updated in place, and new ones are only
 * counted until the user asks to see them.
 */
export function steady<Row extends { jobId: string }>(
  held: readonly Row[],
  fresh: readonly Row[],
): { rows: Row[]; added: number } {
  const newer = new Map(fresh.map((row) => [row.jobId, row]));
  const known = new Set(held.map(({ jobId }) => jobId));
  return {
    rows: held.map((row) => newer.get(row.jobId) ?? row),
    added: fresh.filter(({ jobId }) => !known.has(jobId)).length,
  };
}
