import { invariant } from '../../invariant.ts';
import { type Claim, type Execution, lastSpot, type JobRecord } from '../../job-records.ts';

/** An attempt is only handed back by these, and each of them says so in its own way. */
const FREE_CODES = ['INTERRUPTED', 'PAYLOAD_INVALID'];

export const attempts = invariant(
  'S9',
  'Attempts are charged at claim, and no job is run more often than it has attempts.',
  function* ({ records }) {
    for (const record of records.values()) {
      for (const [index, claim] of record.claims.entries()) {
        const text = charged(claim, record.claims[index - 1]) ?? handedBack(claim, record);
        if (text) yield { job: record.id, text: `claim ${claim.number} ${text}` };
      }
      const spot = lastSpot(record);
      const paid = record.executions.filter((execution) => !isFree(execution));
      if (spot && paid.length > spot.maxAttempts) {
        const text = `was run ${paid.length} times and has ${spot.maxAttempts} attempts`;
        yield { job: record.id, text };
      }
    }
  },
);

function charged(claim: Claim, previous: Claim | undefined): string | null {
  const before = previous ? previous.end?.to?.attempts : 0;
  if (before !== undefined && claim.attempts !== before + 1) {
    return `made ${before} attempts ${claim.attempts}`;
  }
  return claim.attempts > claim.maxAttempts
    ? `is attempt ${claim.attempts} of ${claim.maxAttempts}`
    : null;
}

function handedBack(claim: Claim, { executions }: JobRecord): string | null {
  if (!claim.end?.to) return null;
  if (claim.end.to.attempts === claim.attempts) {
    const unstarted = claim.end.to.state === 'queued' && !claim.ending;
    return unstarted ? 'was given back as never begun, and cost an attempt' : null;
  }
  const code = claim.ending?.errorCode ?? null;
  if (code !== null) {
    return FREE_CODES.includes(code) ? null : `ended with ${code} and cost no attempt`;
  }
  const snoozed = ['scheduled', 'suspended'].includes(claim.end.to.state);
  const began = executions.some(
    ({ claim: mine, startAt }) => mine === claim && startAt < (claim.end?.at ?? 0),
  );
  return began && !snoozed ? 'was given back as never begun, and had begun' : null;
}

function isFree({ claim }: Execution): boolean {
  return claim?.end?.to ? claim.end.to.attempts < claim.attempts : false;
}
