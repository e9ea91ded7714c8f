import type { Micros } from '../../../history/history.ts';
import { invariant, ms } from '../../invariant.ts';

const SLACK: Micros = 1_500_000;

export const cancelReach = invariant(
  'L8',
  'A cancel reaches the running job within one heartbeat, also when every NOTIFY is lost.',
  function* ({ history, operations, records, instances, faults }) {
    const bound = history.run.heartbeatMs * 1_000 + SLACK;
    for (const { call, result, jobs, invokedAt, endedAt } of operations) {
      if (call.name !== 'cancel' || result !== 'ok' || jobs[0]?.status !== 'cancelling') continue;
      const record = records.get(call.job);
      if (record?.wanted?.does !== 'slow') continue;
      for (const { claim, startAt, lastAt, effects } of record.executions) {
        if (startAt > invokedAt || lastAt < endedAt + bound) continue;
        const slot = instances.get(claim?.worker ?? '')?.slot ?? '';
        if (faults.excusing(slot, invokedAt, endedAt + bound, bound).length > 0) continue;
        const abortedAt = effects.find(({ what }) => what === 'abort')?.at ?? lastAt;
        if (abortedAt <= endedAt + bound) continue;
        yield { job: call.job, text: `learnt of its cancel ${ms(abortedAt - endedAt)} later` };
      }
    }
  },
);
