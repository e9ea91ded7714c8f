/**
 * Monotonic milliseconds that all processes of the machine share (CLOCK_MONOTONIC), so a time that
 * one process takes can be compared with one that another took. `performance.now` starts anew in
 * each process.
 */
export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

export async function sleep(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
}
