import { isRetryable } from '../../../../src/core/failure/failure.ts';
import { invariant } from '../../invariant.ts';

export const deadLetters = invariant(
  'S23',
  'A job is a dead letter if and only if its attempts are used up or trying again cannot help.',
  function* ({ records }) {
    for (const { id, final, claims } of records.values()) {
      if (final?.state === 'failed') {
        const spent = final.attempts >= final.maxAttempts;
        if (!spent && isRetryable(final.errorCode ?? '', null)) {
          const left = final.maxAttempts - final.attempts;
          yield { job: id, text: `failed with ${final.errorCode} and ${left} attempts left` };
        }
      }
      for (const { number, attempts, maxAttempts, end } of claims) {
        const again = end?.to?.place === 'waiting' && end.to.attempts >= maxAttempts;
        if (again)
          yield { job: id, text: `claim ${number}, attempt ${attempts}, was the last one` };
      }
    }
  },
);
