import type { JobState } from '../core/job/job.ts';
import type { EnqueueWarning } from '../core/definition/enqueue-warning.ts';
import { otherSignal } from '../core/signal/other-signal.ts';
import { conflictOf } from '../core/job/change-result.ts';
import { compileSchema } from '../params/compile-schema.ts';
import { Findings } from '../protocol/findings.ts';
import { Refusal } from '../protocol/refusal.ts';
import type { Actor } from '../store/access/audit.ts';
import { readWait, type Signal, signalJob } from '../store/change/signal-job.ts';
import type { Db } from '../store/connection/db.ts';
import { getJob } from '../store/read/get-job.ts';

export interface SentSignal {
  jobId: string;
  signal: string;
  status: JobState;
  duplicate: boolean;
  /** Only if there are any: the job waits for another signal. */
  warnings?: EnqueueWarning[];
}

/**
 * Validates a signal and stores it. If the job waits for it, the payload must fit the schema of that
 * wait; the payload of an early signal is validated by the job. Null when there is no such job.
 */
export async function sendSignal(
  db: Db,
  tenant: string,
  jobId: string,
  signal: Signal,
  by: Actor | null,
): Promise<SentSignal | null> {
  const job = await getJob(db, tenant, jobId);
  if (!job) return null;
  const wait = await readWait(db, job, signal.name);
  if (wait) refuseMisfit(wait.schema, signal.payloadJson);
  const result = await signalJob(db, tenant, jobId, signal, by);
  switch (result.kind) {
    case 'missing':
      return null;
    case 'stored':
      const { status, duplicate } = result;
      const awaited = status === 'suspended' ? (job.waitsFor?.signal ?? null) : null;
      const warning = awaited === null ? null : otherSignal(signal.name, awaited);
      const warnings = warning === null ? {} : { warnings: [warning] };
      return { jobId, signal: signal.name, status, duplicate, ...warnings };
    case 'forbidden':
      throw new Refusal('FORBIDDEN', result.why);
    case 'parent':
    case 'refused':
      throw new Refusal('CONFLICT', conflictOf('signal', result));
    case 'late':
      throw new Refusal('CONFLICT', `the wait for the signal ${signal.name} has timed out`);
    case 'link-ended':
      throw new Refusal('CONFLICT', 'the link was used or revoked');
    case 'different':
      throw new Refusal(
        'CONFLICT',
        `the job has the signal ${signal.name} already, with another payload`,
      );
  }
}

export function refuseMisfit(schema: unknown, payloadJson: string, at = '/payload'): void {
  const violations = compileSchema(schema)?.(payloadJson) ?? [];
  if (violations.length === 0) return;
  const findings = new Findings();
  for (const { pointer, detail } of violations) {
    findings.add('PAYLOAD_INVALID', { pointer: `${at}${pointer}`, detail });
  }
  throw findings.refusal();
}
