import type { History, Micros } from '../../../history/history.ts';
import { CALL_FAULTS } from '../../call-faults.ts';
import { OPEN_CALLS, REMOTE } from '../../remote-slots.ts';
import type { Facts } from '../../facts.ts';
import { invariant } from '../../invariant.ts';
import { groupsOf } from '../together/groups.ts';
import { fullMoments } from '../safety/limits.ts';
import { fellAsleep } from '../safety/sleeps.ts';

/**
 * A run in which nothing interesting happened proves nothing. Each of these is counted, and a
 * profile names those that its runs must have seen.
 */
export const SOMETIMES: Record<string, (facts: Facts) => number> = {
  'a stale outcome was refused': notices('stale-refused'),
  'a worker learnt that it was declared dead': notices('declared-dead'),
  'a worker fenced itself': notices('self-fenced'),
  'a claim whose answer was lost was given back': notices('given-back'),
  'a job was rescued': (facts) => endings(facts, 'LEASE_EXPIRED'),
  'a child was killed': (facts) => endings(facts, 'CRASHED'),
  'a job ran out of time': (facts) => endings(facts, 'TIMEOUT'),
  'a silent job was ended': (facts) => endings(facts, 'STALLED'),
  'a job was interrupted by a stop': (facts) => endings(facts, 'INTERRUPTED'),
  'a dead letter': ({ history }) => history.final.filter((job) => job.state === 'failed').length,
  'a running job was cancelled': ({ records }) =>
    count(records, ({ moves }) =>
      moves.some(({ from, to }) => from?.state === 'cancelling' && to?.state === 'cancelled'),
    ),
  'an enqueue of unknown result had been stored': recovered,
  'an enqueue was sent again and made no second job': repeated,
  'the answer to an outcome was cut off': cuts('worker-cut'),
  'the answer to an enqueue was cut off': cuts('api-cut'),
  ...Object.fromEntries(CALL_FAULTS.map(({ kind, seen }) => [seen, cuts(kind)])),
  'an API was killed with calls of remote workers open': ({ history }) =>
    history.faults.filter(({ phase, note }) => phase === 'inject' && note?.includes(OPEN_CALLS))
      .length,
  'a remote worker ran jobs': ({ records, instances }) =>
    count(records, ({ claims }) =>
      claims.some(({ worker }) => instances.get(worker)?.slot.startsWith(REMOTE)),
    ),
  'a job ran deployed code': ({ history }) =>
    history.effects.filter(({ what, build }) => what === 'start' && build !== undefined).length,
  'jobs of several deployments ran': ({ history }) =>
    new Set(history.effects.flatMap(({ build }) => build ?? [])).size - 1,
  'new jobs got an earlier deployment again': ({ history: { releases } }) =>
    releases.filter(({ current }, index) => (current ?? 0) < (releases[index - 1]?.current ?? 0))
      .length,
  'a deployment was retired': ({ history }) =>
    history.deployments.filter(({ retired }) => retired).length,
  'work was found without a hint': ({ records }) =>
    count(records, ({ wanted, claims }) => wanted?.does === 'probe' && claims.length > 0),
  'a job that kills its workers ended': ({ records }) =>
    count(records, ({ wanted, final }) => wanted?.does === 'poison' && final?.state === 'failed'),
  'as many ran as a limit lets': fullMoments,
  'a suspended job got its signal': ({ records }) =>
    count(records, ({ moves }) =>
      moves.some(({ from, to }) => from?.state === 'suspended' && to?.state === 'queued'),
    ),
  'a job ran after its parents': ({ records }) =>
    count(records, ({ wanted, claims }) => wanted?.after !== undefined && claims.length > 0),
  'a job went on after its children': ({ history }) =>
    history.effects.filter(({ what, jobs }) => what === 'joined' && jobs?.length !== 0).length,
  'a job failed with its parent': ({ records }) =>
    count(records, ({ final }) => final?.errorCode === 'PARENT_FAILED'),
  'several jobs ran in one group': (facts) =>
    [...groupsOf(facts).values()].filter((items) => items.length > 1).length,
  'a job with a permit waited for a signal': ({ records }) =>
    count(
      records,
      ({ wanted, moves }) =>
        wanted?.limits !== undefined && moves.some(({ to }) => to?.state === 'suspended'),
    ),
  'jobs of the largest batch': ({ history }) => largestBatch(history),
  'the large batch got all of its jobs': ({ history }) =>
    largestBatch(history) >= (history.run.batchJobs ?? Infinity) ? 1 : 0,
  'the large fan-out got all of its children and their results': wholeFanOuts,
  'a callback ran after its batch': ({ history }) =>
    history.effects.filter(({ what }) => what === 'told').length,
  'a batch failed with a job of it': ({ records }) =>
    count(records, ({ final }) => final?.errorCode === 'BATCH_FAILED'),
  'a batch was cancelled': ({ records }) =>
    count(records, ({ final }) => (final?.batch ?? null) !== null && final?.state === 'cancelled'),
  'jobs of a batch were sent again and not stored again': repeatedAdds,
  'a signal was earlier than the wait': ({ operations, records }) =>
    operations.filter(({ call, result, endedAt }) => {
      if (call.name !== 'signal' || result !== 'ok') return false;
      const effects = records.get(call.job)?.executions.flatMap((one) => one.effects) ?? [];
      return (effects.find(({ what }) => what === 'wait')?.at ?? 0) > endedAt;
    }).length,
  'a job went on after its sleep': ({ records }) =>
    count(
      records,
      ({ executions }) =>
        executions.some(fellAsleep) &&
        executions.some(({ effects }) => effects.some(({ what }) => what === 'woke')),
    ),
  'a sleep was stored and its attempt was lost': ({ history }) => lostSleeps(history),
  'a server was killed while it started': ({ history, faults }) => {
    const killed = new Set(faults.windows.flatMap(({ pids }) => pids));
    return starts(history).filter(({ pid, wasUp }) => !wasUp && killed.has(pid)).length;
  },
  'a server lost its worker process while it started': hitsOfStarts('server-worker-kill'),
  'the database was killed while a server started': hitsOfStarts('postmaster-kill'),
  'the database was killed with jobs just acknowledged': freshAcknowledgements,
};

export const sometimes = invariant(
  'X2',
  'The run was hard enough: everything it must provoke has happened.',
  function* (facts) {
    for (const name of facts.history.run.sometimes) {
      const look = SOMETIMES[name];
      if (!look) throw new Error(`no check for "${name}"`);
      if (look(facts) === 0) yield { text: `never happened: ${name}` };
    }
  },
);

function largestBatch({ members }: History): number {
  const batches = Map.groupBy(members, ({ batch }) => batch);
  return Math.max(0, ...[...batches.values()].map(({ length }) => length));
}

/** Parents of so many children that ended well, after they had read what each child returned. */
function wholeFanOuts({ history, records }: Facts): number {
  const { fanOut = Infinity } = history.run;
  return count(records, ({ wanted, executions, final }) => {
    if ((wanted?.spawns?.length ?? 0) < fanOut || final?.state !== 'succeeded') return false;
    const joined = executions.flatMap(({ effects }) => effects.filter((e) => e.what === 'joined'));
    return joined.some(({ jobs = [], resultShas = [] }) => {
      const stored = (id: string) => records.get(id)?.final?.resultSha ?? null;
      return jobs.length >= fanOut && jobs.every((id, at) => resultShas[at] === stored(id));
    });
  });
}

function notices(wanted: string) {
  return ({ history }: Facts) => history.notices.filter(({ what }) => what === wanted).length;
}

function cuts(wanted: string) {
  return ({ history }: Facts) =>
    history.faults.filter(({ kind, phase }) => kind === wanted && phase === 'inject').length;
}

function endings({ history }: Facts, code: string): number {
  return history.attempts.filter(({ errorCode }) => errorCode === code).length;
}

function count<T>(items: Map<string, T>, is: (item: T) => boolean): number {
  return [...items.values()].filter(is).length;
}

/** Their process ended itself when the sleep was stored. */
function lostSleeps({ effects }: History): number {
  const asleep = new Set(
    effects.flatMap(({ what, execution }) => (what === 'sleep' ? execution : [])),
  );
  return effects.filter(({ what, execution }) => what === 'crash' && asleep.has(execution)).length;
}

/** Its client heard nothing, and there it was. */
function recovered({ enqueues, records }: Facts): number {
  const bornAt = birthsOf(records);
  return enqueues.filter(({ result, call, invokedAt, endedAt }) => {
    const at = bornAt.get(call.jobs[0]?.paramsSha ?? '') ?? 0;
    return result === 'unknown' && at >= invokedAt && at <= endedAt;
  }).length;
}

/** Sent again with the same key although the first one had been stored. */
function repeated({ enqueues, records }: Facts): number {
  const bornAt = birthsOf(records);
  return enqueues.filter(({ result, call, invokedAt }) => {
    const at = bornAt.get(call.jobs[0]?.paramsSha ?? '');
    return result === 'ok' && call.key !== null && at !== undefined && at < invokedAt;
  }).length;
}

function repeatedAdds({ operations, records }: Facts): number {
  const bornAt = birthsOf(records);
  return operations.filter(({ result, call, invokedAt }) => {
    if (call.name !== 'add' || result !== 'ok') return false;
    const at = bornAt.get(call.jobs[0]?.paramsSha ?? '');
    return at !== undefined && at < invokedAt;
  }).length;
}

function birthsOf(records: Facts['records']): Map<string, Micros> {
  return new Map(
    [...records.values()].map(({ final, moves }) => [final?.paramsSha ?? '', moves[0]?.at ?? 0]),
  );
}

/** From each start of a server until it was up, or had ended. */
function starts({ processes }: History) {
  return processes.flatMap(({ phase, pid, slot, parent, at }, index) => {
    if (phase !== 'spawn' || parent !== undefined) return [];
    const next = processes.slice(index + 1).find((one) => one.pid === pid);
    return [{ pid, slot, from: at, until: next?.at ?? Infinity, wasUp: next?.phase === 'up' }];
  });
}

/** Faults of a kind that came while a server started that they reach. */
function hitsOfStarts(wanted: string) {
  return ({ history, faults }: Facts) =>
    faults.windows.filter(
      ({ kind, targets, from: at }) =>
        kind === wanted &&
        starts(history).some(
          ({ slot, from, until }) =>
            from <= at && at < until && (targets.includes(slot) || targets.includes('postgres')),
        ),
    ).length;
}

function freshAcknowledgements({ faults, enqueues }: Facts): number {
  const kills = faults.windows.filter(({ kind }) => kind === 'postmaster-kill');
  return kills.filter(({ from }) =>
    enqueues.some(
      (one) => one.result === 'ok' && one.endedAt <= from && one.endedAt > from - 100_000,
    ),
  ).length;
}
