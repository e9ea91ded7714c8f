import { FAILURE_CODES, OTHER_CODE } from '../core/failure/failure.ts';
import { WAIT_CAUSES } from '../core/dependency/wait-cause.ts';
import { isTerminal, JOB_STATES, OWNED_STATES } from '../core/job/job.ts';
import { COARSE_EDGES_MS, coarseCounts, emptyCounts } from '../core/series/histogram.ts';
import { TRANSPORTS } from '../core/queue/worker.ts';
import { LIVE_STATES } from '../core/shards/shards.ts';
import { isSystemKey } from '../core/definition/hooks.ts';
import { ALERT_KEY } from '../core/alert/route.ts';
import { WEBHOOK_KEY } from '../core/webhook/webhook.ts';
import type { ClusterRows, Move, Span } from '../store/counters/read-metrics.ts';
import { definitionNames } from './definition-names.ts';
import { counter, type Family, gauge, histogram, type Sample, type Spread } from './family.ts';

/**
 * Metrics of the whole cluster, read from the database: every API process gives the same answer,
 * and a restart resets no counter. Labels never contain ids, and definitions beyond a limit share
 * one name.
 */
export function clusterFamilies(rows: ClusterRows): Family[] {
  const moves = rows.moves.filter(({ key }) => !isSystemKey(key));
  const labelOf = definitionNames(moves);
  return [
    ...jobFamilies(moves, labelOf),
    suspendedFamily(rows),
    ...timeFamilies(rows, labelOf),
    ...sendFamilies(
      rows.moves.filter(({ key }) => key === WEBHOOK_KEY),
      { name: 'longshore_webhook_deliveries', what: 'Webhook deliveries' },
    ),
    ...sendFamilies(
      rows.moves.filter(({ key }) => key === ALERT_KEY),
      { name: 'longshore_alert_messages', what: 'Messages about alerts' },
    ),
    ...workerFamilies(rows),
    ...shardFamilies(rows),
    ...databaseFamilies(rows),
  ];
}

type LabelOf = (key: string) => string;

type Labels = Record<string, string>;

/**
 * Sums of moves by labels; a move without labels is skipped. `expected` labels are reported even as
 * 0: Prometheus ignores the initial value of a series, so it would miss the first failures.
 */
function sums(
  moves: readonly Move[],
  of: (move: Move) => Labels | null,
  expected: readonly Labels[] = [],
): Sample[] {
  const found = new Map<string, Sample>();
  for (const labels of expected) add(found, labels, 0);
  for (const move of moves) {
    const labels = of(move);
    if (labels) add(found, labels, move.n);
  }
  return [...found.values()];
}

function add(found: Map<string, Sample>, labels: Labels, value: number): void {
  const id = JSON.stringify(labels);
  const known = found.get(id);
  if (known) known.value += value;
  else found.set(id, { labels, value });
}

function jobFamilies(moves: readonly Move[], labelOf: LabelOf): Family[] {
  const names = [...new Set(moves.map(({ key }) => labelOf(key)))];
  const count = (
    name: string,
    help: string,
    expected: readonly Labels[],
    of: (move: Move) => Labels | null,
  ) => {
    const labelled = (move: Move) => {
      const labels = of(move);
      return labels && { definition: labelOf(move.key), ...labels };
    };
    const all = names.flatMap((definition) => expected.map((one) => ({ definition, ...one })));
    return counter(name, help, sums(moves, labelled, all));
  };
  return [
    gauge('longshore_jobs', 'Jobs by state.', depths(moves, labelOf)),
    count('longshore_jobs_enqueued_total', 'Jobs enqueued.', [{}], ({ was, state }) =>
      was === null && state !== null ? {} : null,
    ),
    count('longshore_jobs_started_total', 'Attempts started.', [{}], ({ state }) =>
      state === 'running' ? {} : null,
    ),
    count(
      'longshore_jobs_finished_total',
      'Jobs that ended, by state and error code.',
      ENDS,
      ({ state, code }) =>
        state !== null && isTerminal(state)
          ? { outcome: state, code: state === 'failed' ? (code ?? OTHER_CODE) : '' }
          : null,
    ),
    count(
      'longshore_job_retries_total',
      'Attempts that failed and are retried, by attempt number.',
      RETRIES,
      ({ state, attempt }) =>
        state === 'retrying' ? { attempt: attemptName(attempt ?? 1) } : null,
    ),
    count(
      'longshore_leases_expired_total',
      'Attempts whose lease expired.',
      [{}],
      ({ was, code }) => (isLost(was, code) ? {} : null),
    ),
  ];
}

/** Empty causes are reported as 0, so that their line in a graph continues. */
function suspendedFamily({ suspended }: ClusterRows): Family {
  return gauge(
    'longshore_jobs_suspended',
    'Suspended jobs by what they wait for; counts of a shard end at 100000.',
    Object.keys(WAIT_CAUSES).map((cause) => {
      const counts = suspended.filter((one) => one.cause === cause);
      return { labels: { cause }, value: counts.reduce((sum, { jobs }) => sum + jobs, 0) };
    }),
  );
}

const ENDS = [
  { outcome: 'succeeded', code: '' },
  { outcome: 'cancelled', code: '' },
  ...[...Object.keys(FAILURE_CODES), OTHER_CODE].map((code) => ({ outcome: 'failed', code })),
];

const RETRIES = [1, 2, 3, 4, 5, 6, 11].map((n) => ({ attempt: attemptName(n) }));

function depths(moves: readonly Move[], labelOf: LabelOf): Sample[] {
  const found = new Map<string, Sample>();
  for (const { key, was, state, n } of moves) {
    const definition = labelOf(key);
    // Report empty states as 0, so that their line in a graph continues.
    for (const each of JOB_STATES) add(found, { definition, state: each }, 0);
    if (state !== null) add(found, { definition, state }, n);
    if (was !== null) add(found, { definition, state: was }, -n);
  }
  return [...found.values()];
}

function isLost(was: Move['was'], code: string | null): boolean {
  return code === 'LEASE_EXPIRED' && (OWNED_STATES as readonly unknown[]).includes(was);
}

function attemptName(attempt: number): string {
  if (attempt <= 5) return String(attempt);
  return attempt <= 10 ? '6-10' : '11+';
}

const EDGES_SECONDS = COARSE_EDGES_MS.map((ms) => ms / 1_000);

function timeFamilies({ spans, oldest, moves }: ClusterRows, labelOf: LabelOf): Family[] {
  const ran = spans.filter(({ key, bucket }) => !isSystemKey(key) && bucket >= 0);
  const ages = new Map<string, number>();
  for (const { key } of moves) if (!isSystemKey(key)) ages.set(labelOf(key), 0);
  for (const { key, ageMs } of oldest) {
    ages.set(labelOf(key), Math.max(ageMs / 1_000, ages.get(labelOf(key)) ?? 0));
  }
  const values = [...ages].map(([definition, value]) => ({ labels: { definition }, value }));
  const of = (isWait: boolean) =>
    spreads(
      [...ages.keys()],
      ran.filter(({ state }) => (state === 'running') === isWait),
      labelOf,
    );
  return [
    gauge(
      'longshore_queue_oldest_age_seconds',
      'Age of the oldest queued job; 0 when none is queued.',
      values,
    ),
    histogram(
      'longshore_job_wait_seconds',
      'Time from queued to the start of an attempt.',
      EDGES_SECONDS,
      of(true),
    ),
    histogram(
      'longshore_job_run_seconds',
      'Time from the start of an attempt to its end.',
      EDGES_SECONDS,
      of(false),
    ),
  ];
}

/** Each definition has a histogram, even an empty one, so that Prometheus sees it begin. */
function spreads(names: readonly string[], spans: readonly Span[], labelOf: LabelOf): Spread[] {
  const groups = Map.groupBy(spans, ({ key }) => labelOf(key));
  return names.map((definition) => {
    const counts = emptyCounts();
    let sum = 0;
    for (const { bucket, n, ms } of groups.get(definition) ?? []) {
      counts[bucket] = (counts[bucket] ?? 0) + n;
      sum += ms / 1_000;
    }
    return { labels: { definition }, counts: coarseCounts(counts), sum };
  });
}

/** Of deliveries or messages, which are jobs of our own. */
function sendFamilies(
  moves: readonly Move[],
  { name, what }: { name: string; what: string },
): Family[] {
  const outcomes = ['succeeded', 'failed', 'cancelled'];
  const none = outcomes.map((outcome) => ({ labels: { outcome }, value: 0 }));
  const sent = sums(moves, ({ state }) =>
    state !== null && isTerminal(state) ? { outcome: state } : null,
  );
  const byOutcome = new Map([...none, ...sent].map((one) => [one.labels['outcome'], one]));
  const open = moves.reduce((sum, { was, state, n }) => {
    const came = state !== null && !isTerminal(state) ? n : 0;
    return sum + came - (was !== null && !isTerminal(was) ? n : 0);
  }, 0);
  return [
    counter(`${name}_total`, `${what} that ended.`, [...byOutcome.values()]),
    gauge(`${name}_pending`, `${what} that are pending.`, [{ labels: {}, value: open }]),
  ];
}

function workerFamilies({
  workers,
  held,
  wantedSlots,
  lateMs,
  counterLagMs,
}: ClusterRows): Family[] {
  const plain = (name: string, help: string, value: number) =>
    gauge(name, help, [{ labels: {}, value }]);
  return [
    gauge(
      'longshore_workers',
      'Workers by status and transport; dead ones are kept for a day.',
      TRANSPORTS.flatMap((transport) =>
        ['active', 'draining', 'dead'].map((status) => {
          const of = workers.find((one) => one.status === status && one.transport === transport);
          return { labels: { status, transport }, value: of?.workers ?? 0 };
        }),
      ),
    ),
    gauge(
      'longshore_slots',
      'Slots of all workers, in use and free, by transport.',
      TRANSPORTS.flatMap((transport) => {
        const ours = <One extends { transport: string }>(all: readonly One[]) =>
          all.filter((one) => one.transport === transport);
        const living = ours(workers).filter(({ status }) => status !== 'dead');
        const slots = living.reduce((sum, one) => sum + one.slots, 0);
        const busy = ours(held).reduce((sum, one) => sum + one.jobs, 0);
        return [
          { labels: { state: 'busy', transport }, value: Math.min(busy, slots) },
          { labels: { state: 'free', transport }, value: Math.max(0, slots - busy) },
        ];
      }),
    ),
    plain('longshore_wanted_slots', 'Slots that the load needs.', wantedSlots),
    plain(
      'longshore_scheduler_lag_seconds',
      'Lateness of the most overdue scheduled or retrying job.',
      lateMs / 1_000,
    ),
    plain(
      'longshore_counter_lag_seconds',
      'Time since the counters were rolled up.',
      counterLagMs / 1_000,
    ),
  ];
}

/** With one shard they would repeat the other metrics. */
function shardFamilies({ shards }: ClusterRows): Family[] {
  if (shards.length === 0) return [];
  const each = (value: (one: ClusterRows['shards'][number]) => number) =>
    shards.map((one, shard) => ({ labels: { shard: String(shard) }, value: value(one) }));
  return [
    gauge(
      'longshore_shard_jobs',
      'Jobs of a shard that have not ended, by state, hooks and deliveries included.',
      shards.flatMap(({ jobs }, shard) =>
        LIVE_STATES.map((state) => ({
          labels: { shard: String(shard), state },
          value: jobs[state],
        })),
      ),
    ),
    gauge(
      'longshore_shard_oldest_age_seconds',
      'Age of the oldest queued job of a shard; 0 when none is queued.',
      each(({ oldestAgeMs }) => oldestAgeMs / 1_000),
    ),
    gauge(
      'longshore_shard_scheduler_lag_seconds',
      'Lateness of the most overdue scheduled or retrying job of a shard.',
      each(({ lateMs }) => Math.max(0, lateMs) / 1_000),
    ),
  ];
}

function databaseFamilies({ tables, holder }: ClusterRows): Family[] {
  const each = (value: (one: ClusterRows['tables'][number]) => number) =>
    tables.map((one) => ({ labels: { table: one.table }, value: value(one) }));
  return [
    gauge(
      'longshore_database_table_bytes',
      'The size of a table with its partitions and indexes.',
      each(({ bytes }) => bytes),
    ),
    gauge(
      'longshore_database_dead_rows',
      'Rows of a table that vacuum has still to remove.',
      each(({ deadRows }) => deadRows),
    ),
    gauge(
      'longshore_database_oldest_transaction_seconds',
      'How long the oldest transaction has kept vacuum from removing rows.',
      [{ labels: {}, value: (holder?.heldMs ?? 0) / 1_000 }],
    ),
  ];
}
