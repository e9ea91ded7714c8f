import { THRESHOLD_MAX } from '../core/alert/alert.ts';
import type { AlertRules, Finding } from '../core/alert/alert-rules.ts';
import { budgetText } from '../core/usage/budget.ts';
import { DEFAULT_TENANT } from '../core/access/scope.ts';
import type { Clock } from '../runtime/clock.ts';
import { eachShard } from '../runtime/shard-pollers.ts';
import {
  countAttempts,
  countDead,
  countYoungDead,
  findDeadQueues,
  findOldLevels,
  findStuck,
  findYoungRetries,
  type RetriedJob,
} from '../store/alerts/alert-probes.ts';
import { findStoppedCanaries } from '../store/deployments/canary-counts.ts';
import {
  type AskedTimes,
  type ListedQueue,
  listQueues,
  readTimes,
} from '../store/alerts/latency-probes.ts';
import { listAllBudgets, withUse } from '../store/alerts/budgets.ts';
import { failingWords } from '../core/webhook/failing.ts';
import { findFailingWebhooks } from '../store/webhooks/failing-webhooks.ts';
import { findMissedSlots } from '../store/alerts/missed-slots.ts';
import type { Db } from '../store/connection/db.ts';
import { readClock } from '../store/counters/read-stats.ts';
import { findHolder } from '../store/connection/health.ts';
import { adviceOn, holderClock } from './health-watch.ts';

const LATENCY_RULES = ['wait-p95', 'run-p95', 'wait-growth', 'run-growth'] as const;
const BUDGET_RULES = ['budget-warning', 'budget-exceeded'] as const;
type LatencyRule = (typeof LATENCY_RULES)[number];

const NO_SUBJECT = { scheduleId: null, jobId: null } as const;

export interface Measured {
  findings: Finding[];
  /** Why some shard could not be measured; null when all were. */
  failure: unknown;
}

interface QuietOptions {
  /** Whether nothing happens in a shard. */
  isQuiet?: ((shard: number) => boolean) | undefined;
  /** How long the findings of such a shard count. */
  keptMs?: number;
}

/** Takes the measurements that the rules need. Disabled rules cost nothing. */
export function measurer(
  db: Db,
  clock: Clock,
  { isQuiet, keptMs = 0 }: QuietOptions = {},
): (rules: AlertRules) => Promise<Measured> {
  const heldMs = holderClock(clock);
  const kept = new Map<number, { atMs: number; findings: Finding[] }>();
  return async (rules) => {
    const findings = [
      ...(await vacuum(rules)),
      ...(await stoppedCanaries(rules)),
      ...(await failingWebhooks(rules)),
    ];
    const shards = Array.from({ length: db.shards }, (_, shard) => shard);
    const failure = await eachShard(shards, async (shard) => {
      findings.push(...(await ofShard(shard, rules)));
    }).then(
      () => null,
      (error: unknown) => error,
    );
    try {
      findings.push(...(await budgets(rules)));
      return { findings, failure };
    } catch (error) {
      return { findings, failure: failure ?? error };
    }
  };

  /** A quiet shard is not measured again for a while. */
  async function ofShard(shard: number, rules: AlertRules): Promise<Finding[]> {
    const nowMs = clock.monotonicMs();
    const before = kept.get(shard);
    if (before && isQuiet?.(shard) && nowMs - before.atMs < keptMs) return before.findings;
    const findings = [
      ...(await levels(shard, rules)),
      ...(await deadLetters(shard, rules)),
      ...(await retries(shard, rules)),
      ...(await stuck(shard, rules)),
      ...(await missedSlots(shard, rules)),
      ...(await latency(shard, rules)),
    ];
    kept.set(shard, { atMs: nowMs, findings });
    return findings;
  }

  async function levels(shard: number, rules: AlertRules): Promise<Finding[]> {
    const seconds = Math.min(rules.thresholdMin('oldest-age'), rules.thresholdMin('unserved'));
    const found = await findOldLevels(db, shard, seconds);
    return found.flatMap(({ served, held, ...level }) => {
      const old: Finding = { rule: 'oldest-age', ...NO_SUBJECT, ...level };
      // A pause explains a wait, but it starts no worker: what fires already still holds.
      if (held) return [{ ...old, rule: 'unserved', onlyConfirms: true }];
      return served ? [old] : [old, { ...old, rule: 'unserved' }];
    });
  }

  async function deadLetters(shard: number, rules: AlertRules): Promise<Finding[]> {
    const [young, all] = [mayFire(rules, 'dead-letters'), mayFire(rules, 'dead-letter-size')];
    if (!young && !all) return [];
    const dead = await findDeadQueues(db, shard);
    const queues = dead.map((queue) => {
      const { windowSeconds } = rules.of('dead-letters', queue.tenant, queue.definitionKey);
      return { ...queue, seconds: windowSeconds ?? 0, bound: THRESHOLD_MAX };
    });
    const recent = young ? await countYoungDead(db, shard, queues) : [];
    const sizes = all ? await countDead(db, shard, dead) : [];
    return [
      ...recent.map((queue): Finding => ({ rule: 'dead-letters', ...NO_SUBJECT, ...queue })),
      ...sizes.map((queue): Finding => ({ rule: 'dead-letter-size', ...NO_SUBJECT, ...queue })),
    ];
  }

  /**
   * Only queues whose rule is on are read; all four are off until a threshold is set. Rules with the
   * same window share one question.
   */
  async function latency(shard: number, rules: AlertRules): Promise<Finding[]> {
    const names = LATENCY_RULES.filter((rule) => mayFire(rules, rule));
    if (names.length === 0) return [];
    const asked: (ListedQueue & AskedTimes & { names: LatencyRule[] })[] = [];
    for (const queue of await listQueues(db, shard)) {
      const held = names
        .map((rule) => ({ rule, ...rules.of(rule, queue.tenant, queue.definitionKey) }))
        .filter(({ enabled }) => enabled);
      for (const [seconds, group] of Map.groupBy(held, (one) => one.windowSeconds ?? 0)) {
        const wanted = group.map(({ rule }) => rule);
        const compared = wanted.some((rule) => rule.endsWith('growth'));
        asked.push({ ...queue, seconds, compared, names: wanted });
      }
    }
    const found = await readTimes(db, shard, asked);
    return asked.flatMap(({ tenant, definitionKey, names: wanted }, n) => {
      const times = found.get(n);
      if (!times) return [];
      return wanted.map((rule): Finding => {
        const about = { ...NO_SUBJECT, tenant, definitionKey, value: 0 };
        return { rule, ...about, times: rule.startsWith('wait') ? times.waited : times.ran };
      });
    });
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
      .map(({ tenant, definitionKey, scheduleId, name, cron }): Finding => {
        const about = { tenant, definitionKey, scheduleId, jobId: null, detail: name ?? cron };
        return { rule: 'schedule-missed', ...about, value: 1 };
      });
  }

  async function stoppedCanaries(rules: AlertRules): Promise<Finding[]> {
    if (!mayFire(rules, 'canary-stopped')) return [];
    const found = await findStoppedCanaries(db, rules.windowSecondsMax('canary-stopped'));
    return found
      .filter(({ tenant, definitionKey, ageSeconds }) => {
        const { windowSeconds } = rules.of('canary-stopped', tenant, definitionKey);
        return ageSeconds <= (windowSeconds ?? 0);
      })
      .map(({ tenant, definitionKey, reason }): Finding => {
        const about = { ...NO_SUBJECT, tenant, definitionKey, detail: reason };
        return { rule: 'canary-stopped', ...about, value: 1 };
      });
  }

  /** Each period of a budget is a subject of its own, so it fires once in each. */
  async function budgets(rules: AlertRules): Promise<Finding[]> {
    const names = BUDGET_RULES.filter((rule) => mayFire(rules, rule));
    const all = names.length === 0 ? [] : await listAllBudgets(db);
    if (all.length === 0) return [];
    return (await withUse(db, all, await readClock(db))).flatMap((budget) => {
      const { tenant, definitionKey, name, from, usedPercent } = budget;
      const about = { ...NO_SUBJECT, tenant, definitionKey, subject: `${name} ${from}` };
      const detail = `${name}, ${budgetText(budget)}`;
      return names.map((rule): Finding => ({ rule, ...about, value: usedPercent, detail }));
    });
  }

  async function failingWebhooks(rules: AlertRules): Promise<Finding[]> {
    if (!mayFire(rules, 'webhook-failing')) return [];
    const found = await findFailingWebhooks(db, rules.thresholdMin('webhook-failing'));
    return found.map((webhook): Finding => {
      const { tenant, webhookId, seconds } = webhook;
      const about = { ...NO_SUBJECT, tenant, definitionKey: null, webhookId };
      return { rule: 'webhook-failing', ...about, value: seconds, detail: failingWords(webhook) };
    });
  }

  async function vacuum(rules: AlertRules): Promise<Finding[]> {
    if (!mayFire(rules, 'vacuum')) return [];
    const holder = await findHolder(db);
    if (!holder) return [];
    const value = Math.round(heldMs(holder) / 1_000);
    const detail = adviceOn(holder, value);
    return [
      { rule: 'vacuum', ...NO_SUBJECT, tenant: DEFAULT_TENANT, definitionKey: null, value, detail },
    ];
  }
}

function mayFire(rules: AlertRules, rule: Finding['rule']): boolean {
  return Number.isFinite(rules.thresholdMin(rule));
}
