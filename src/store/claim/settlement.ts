import { fingerprintOf } from '../../core/failure/fingerprint.ts';
import type { OwnedState, Usage } from '../../core/job/job.ts';
import type { Transition } from '../../core/job/lifecycle.ts';

/** How one claim ended. */
export interface Settlement {
  id: string;
  claim: number;
  /** The state in which the decision was made; part of the fence. */
  was: OwnedState;
  transition: Transition;
  usage: Usage;
}

/** One settlement per row of the batch $2. Result and error are text: they are stored byte for byte. */
export const SETTLEMENTS = `
  u as materialized (
    select * from json_to_recordset($2::json) as u(
      n int, id uuid, claim int, was longshore.job_state, next longshore.job_state,
      delay_ms float8, attempt_refunded int, interrupted int, attempted boolean, waits_for text, error_code text, error text, fingerprint text, result text,
      pid int, exit_code int, signal text, peak_rss_bytes bigint, cpu_ms int)
  )`;

/** The value of $2. */
export function settlementsJson(settlements: readonly Settlement[]): string {
  return JSON.stringify(settlements.map(toRow));
}

function toRow({ id, claim, was, transition, usage }: Settlement, n: number) {
  return {
    n,
    id,
    claim,
    was,
    next: transition.to,
    delay_ms: transition.delayMs,
    attempt_refunded: transition.attemptRefunded ? 1 : 0,
    interrupted: transition.interrupted ? 1 : 0,
    attempted: transition.attempted,
    waits_for: transition.waitsFor,
    error_code: transition.error?.code ?? null,
    error: transition.error ? JSON.stringify(transition.error) : null,
    fingerprint: transition.error ? fingerprintOf(transition.error) : null,
    result: transition.resultJson,
    pid: usage.pid,
    exit_code: usage.exitCode,
    signal: usage.signal,
    peak_rss_bytes: usage.peakRssBytes,
    cpu_ms: usage.cpuMs,
  };
}
