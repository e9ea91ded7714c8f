import { THRESHOLD_MAX } from '../core/views/alert.ts';
import type { AlertRules, Finding } from '../core/views/alert-rules.ts';
import { HOST_TENANT } from '../core/access/scope.ts';
import type { Clock } from '../runtime/clock.ts';
import { eachShard } from '../runtime/shard-pollers.ts';
import {
  countAttempts,
  countYoungDead,
  findDeadQueues,
  findOldLevels,
  findStuck,
  findYoungRetries,
  type RetriedJob,
} from '../store/counters/alert-probes.ts';
import { findMissedSlots } from '../store/counters/missed-slots.ts';
import type { Db } from '../store/connection/db.ts';
import { findHolder } from '../store/connection/health.ts';
import { adviceOn, holderClock } from './health-watch.ts';

const NO_SUBJECT = { scheduleId: null, jobId: null } as const;

export interface Measured {
  findings: Finding[];
  /** Why some shard could not be measured; null when all were. */
  failure: unknown;
}

/** Takes the measurements that the rules need. Disabled rules cost nothing. */
export function measurer(db: Db, clock: Clock): (rules: AlertRules) => Promise<Measured> {
  const heldMs = holderClock(clock);
  return async (rules) => {
    const findings = await vacuum(rules);
    const shards = Array.from({ length: db.shards }, (_, shard) => shard);
    const failure = await eachShard(shards, async (shard) => {
      findings.push(
        ...(await levels(shard, rules)),
        ...(await deadLetters(shard, rules)),
        ...(await retries(shard, rules)),
        ...(await stuck(shard, rules)),
        ...(await missedSlots(shard, rules)),
      );
    }).then(
      () => null,
      (error: unknown) => error,
    );
    return { findings, failure };
  };

  async function levels(shard: number, rules: AlertRules): Promise<Finding[]> {
    const seconds = Math.min(rules.thresholdMin('oldest-age'), rules.thresholdMin('no-worker'));
    const found = await findOldLevels(db, shard, seconds);
    return found.flatMap(({ served, ...level }) => {
      const old: Finding = { rule: 'oldest-age', ...NO_SUBJECT, ...level };
      return served ? [old] : [old, { ...old, rule: 'no-worker' }];
    });
  }

  async function deadLetters(shard: number, rules: AlertRules): Promise<Finding[]> {
    if (!mayFire(rules, 'dead-letters')) return [];
    const queues = (await findDeadQueues(db, shard)).map((queue) => {
      const { windowSeconds } = rules.of('dead-letters', queue.tenant, queue.definitionKey);
      return { ...queue, seconds: windowSeconds ?? 0, bound: THRESHOLD_MAX };
    });
    const found = await countYoungDead(db, shard, queues);
    return found.map((queue): Finding => ({ rule: 'dead-letters', ...NO_SUBJECT, ...queue }));
  }

  async function retries(shard: number, rules: AlertRules): Promise<Finding[]> {
    const asked = (['retries', 'retry-rate'] as const).filter((rule) => mayFire(rules, rule));
    if (asked.length === 0) return [];
    const seconds = Math.max(...asked.map((rule) => rules.windowSecondsMax(rule)));
    const found = await findYoungRetries(db, shard, seconds);
    const counted = found
      .filter(({ tenant, definitionKey, ageSeconds }) => {
        const { windowSeconds } = rules.of('retries', tenant, definitionKey);
        return ageSeconds <= (windowSeconds ?? 0);
      })
      .map(({ tenant, definitionKey, jobId }): Finding => {
        return { rule: 'retries', ...NO_SUBJECT, tenant, definitionKey, jobId, value: 1 };
      });
    return [...counted, ...(await retryRates(shard, found, rules))];
  }

  /** Only queues with a retry are read, so the cost follows the number of problems. */
  async function retryRates(
    shard: number,
    found: readonly RetriedJob[],
    rules: AlertRules,
  ): Promise<Finding[]> {
    if (!mayFire(rules, 'retry-rate')) return [];
    const queues = new Map(found.map((one) => [one.queue, one]));
    const asked = [...queues.values()].map(({ queue, tenant, definitionKey }) => {
      const { windowSeconds } = rules.of('retry-rate', tenant, definitionKey);
      return { queue, seconds: windowSeconds ?? 0 };
    });
    return (await countAttempts(db, shard, asked)).flatMap(({ queue, started, retried }) => {
      const example = queues.get(queue);
      if (!example || started === 0) return [];
      const { tenant, definitionKey, jobId } = example;
      const about = { ...NO_SUBJECT, tenant, definitionKey, jobId };
      return { rule: 'retry-rate' as const, ...about, value: retried, outOf: started };
    });
  }

  async function stuck(shard: number, rules: AlertRules): Promise<Finding[]> {
    if (!mayFire(rules, 'stuck')) return [];
    return (await findStuck(db, shard)).map((queue): Finding => {
      return { rule: 'stuck', ...NO_SUBJECT, ...queue };
    });
  }

  async function missedSlots(shard: number, rules: AlertRules): Promise<Finding[]> {
    if (!mayFire(rules, 'schedule-missed')) return [];
    const found = await findMissedSlots(db, shard, rules.windowSecondsMax('schedule-missed'));
    return found
      .filter(({ tenant, definitionKey, ageSeconds }) => {
        const { windowSeconds } = rules.of('schedule-missed', tenant, definitionKey);
        return ageSeconds <= (windowSeconds ?? 0);
      })
      .map(({ tenant, definitionKey, scheduleId }): Finding => {
        return {
          rule: 'schedule-missed',
          tenant,
          definitionKey,
          scheduleId,
          jobId: null,
          value: 1,
        };
      });
  }

  async function vacuum(rules: AlertRules): Promise<Finding[]> {
    if (!mayFire(rules, 'vacuum')) return [];
    const holder = await findHolder(db);
    if (!holder) return [];
    const value = Math.round(heldMs(holder) / 1_000);
    const detail = adviceOn(holder, value);
    return [
      { rule: 'vacuum', ...NO_SUBJECT, tenant: HOST_TENANT, definitionKey: null, value, detail },
    ];
  }
}

function mayFire(rules: AlertRules, rule: Finding['rule']): boolean {
  return Number.isFinite(rules.thresholdMin(rule));
}
