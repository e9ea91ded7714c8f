import type { Command } from 'commander';
import type { IngestPlan } from '../../../app/ingest/ingest-app.ts';
import type { Config, SettingKey } from '../../../config/config.ts';
import {
  brokerKind,
  hasPassword,
  isBrokerUrl,
  parseBrokers,
} from '../../../core/broker/broker-url.ts';
import { isTopicName } from '../../../core/broker/kafka-url.ts';
import { DEFAULT_TENANT } from '../../../core/access/scope.ts';
import { KEY_SHAPE } from '../../../core/definition/definition.ts';
import { unknownName } from '../../../core/values/nearest.ts';
import type { Cli } from '../../cli.ts';
import { whole } from '../../options/option-values.ts';
import { addServerFlags } from '../../options/setting-options.ts';
import { UsageError } from '../../options/usage-error.ts';
import { configOf, outputOf } from '../../session.ts';
import { runRole } from '../roles.ts';

interface IngestOptions {
  from: string;
  queue?: string;
  topic?: string;
  group?: string;
  definition?: string;
  source?: string;
  idHeader?: string;
  requireId?: true;
  prefetch?: number;
  batch?: number;
  deadLetterQueue?: string;
  deadLetterExchange?: string;
  deadLetterByBroker?: true;
  deadLetterTopic?: string;
}

type SourcePlan = IngestPlan['from'];
type DeadLetterTarget = Extract<SourcePlan, { kind: 'amqp' }>['deadLetters'];

const PREFETCH_DEFAULT = 1_000;
const BATCH_DEFAULT = 500;
const BATCH_MAX = 10_000;
/** A 16-bit number in AMQP. */
const PREFETCH_MAX = 65_535;
const GROUP_DEFAULT = 'longshore';

/** Settings that matter to this process. */
const SETTINGS: readonly SettingKey[] = [
  'pooler',
  'metricsHost',
  'metricsPort',
  'tenantQueuedMax',
  'tenantQueuedBytesMax',
  'data',
  'unregistered',
  'shards',
  'logLevel',
  'logFormat',
  'logJobs',
  'tracing',
];

export function addIngest(program: Command, cli: Cli): void {
  const command = program
    .command('ingest')
    .summary('make jobs from the messages of a broker')
    .description(
      'Consume a queue of RabbitMQ or a topic of Kafka: each message becomes a job, and is ' +
        'acknowledged when the job is stored. See docs/message-brokers.md.',
    )
    .requiredOption(
      '--from <broker>',
      'a broker of LONGSHORE_BROKERS, or its URL (amqp://… or kafka://…)',
    )
    .option('--queue <name>', 'RabbitMQ: queue to consume; it must exist')
    .option('--topic <name>', 'Kafka: topic to consume; it must exist')
    .option(
      '--group <name>',
      `Kafka: consumer group, whose processes share the topic; default ${GROUP_DEFAULT}`,
    )
    .option(
      '--definition <key>',
      'messages are params of this definition; default: bodies of POST /v1/jobs',
    )
    .option(
      '--source <name>',
      'prefix of message ids in idempotency keys; default: the queue or topic',
    )
    .option(
      '--id-header <name>',
      'header with the message id; default: the property message-id, or partition and offset',
    )
    .option('--require-id', 'dead-letter messages without an id')
    .option(
      '--prefetch <number>',
      `messages that are held before one is acknowledged; default ${PREFETCH_DEFAULT}`,
      whole,
    )
    .option('--batch <number>', `jobs per transaction, at most; default ${BATCH_DEFAULT}`, whole)
    .option('--dead-letter-queue <name>', 'RabbitMQ: queue of poison messages; default: QUEUE.dead')
    .option('--dead-letter-exchange <name>', 'RabbitMQ: exchange of poison messages instead')
    .option(
      '--dead-letter-by-broker',
      'RabbitMQ: reject poison messages; the queue has its own exchange',
    )
    .option('--dead-letter-topic <name>', 'Kafka: topic of poison messages; default: TOPIC.dead')
    .action(async (options: IngestOptions, self: Command) => {
      const out = outputOf(cli, self);
      const { config } = configOf(cli, self, 'server');
      const plan = planOf(options, config);
      await runRole(cli, out, 'ingest', config, async (app, log, stop) => {
        return await app.startIngest(config, plan, log, stop);
      });
    });
  addServerFlags(command, SETTINGS);
}

function planOf(options: IngestOptions, config: Config): IngestPlan {
  const { definition = null, idHeader = null, batch = BATCH_DEFAULT } = options;
  if (definition !== null && !KEY_SHAPE.test(definition)) {
    throw new UsageError(`--definition ${JSON.stringify(definition)} is no key of a definition`);
  }
  demandRange('--batch', batch, BATCH_MAX);
  const url = brokerUrl(options.from, config.brokers);
  const from = brokerKind(url) === 'kafka' ? kafkaPlan(url, options) : amqpPlan(url, options);
  return {
    from,
    // No more than that is held before a batch is acknowledged.
    batchMax: Math.min(batch, from.prefetch),
    tenant: config.tenant ?? DEFAULT_TENANT,
    source: options.source ?? (from.kind === 'kafka' ? from.topic : from.queue),
    definitionKey: definition,
    idHeader,
    requireId: options.requireId ?? false,
  };
}

function amqpPlan(url: string, options: IngestOptions): SourcePlan {
  const { queue } = options;
  refuse(options, KAFKA_FLAGS, 'Kafka, and --from is RabbitMQ');
  if (queue === undefined) throw new UsageError('--queue is missing: the queue to consume');
  const deadLetters = deadLettersOf(queue, options);
  return { kind: 'amqp', url, queue, prefetch: prefetchOf(options), deadLetters };
}

function kafkaPlan(url: string, options: IngestOptions): SourcePlan {
  const { topic, group = GROUP_DEFAULT, requireId, idHeader } = options;
  refuse(options, AMQP_FLAGS, 'RabbitMQ, and --from is Kafka');
  if (topic === undefined) throw new UsageError('--topic is missing: the topic to consume');
  const deadLetterTopic = options.deadLetterTopic ?? `${topic}.dead`;
  for (const [flag, name] of [
    ['--topic', topic],
    ['--dead-letter-topic', deadLetterTopic],
  ] as const) {
    if (!isTopicName(name)) {
      throw new UsageError(`${flag} ${JSON.stringify(name)} is no name of a topic`);
    }
  }
  if (deadLetterTopic === topic) throw new UsageError('--dead-letter-topic must be another topic');
  if (group === '') throw new UsageError('--group must not be empty');
  if (requireId && idHeader === undefined) {
    throw new UsageError('--require-id needs --id-header: messages of Kafka have no other id');
  }
  return { kind: 'kafka', url, topic, group, prefetch: prefetchOf(options), deadLetterTopic };
}

type Flag = keyof IngestOptions;
const KAFKA_FLAGS = { topic: '--topic', group: '--group', deadLetterTopic: '--dead-letter-topic' };
const AMQP_FLAGS = {
  queue: '--queue',
  deadLetterQueue: '--dead-letter-queue',
  deadLetterExchange: '--dead-letter-exchange',
  deadLetterByBroker: '--dead-letter-by-broker',
};

function refuse(options: IngestOptions, flags: Partial<Record<Flag, string>>, why: string): void {
  for (const [name, flag] of Object.entries(flags)) {
    if (options[name as Flag] !== undefined) throw new UsageError(`${flag} is for ${why}`);
  }
}

function prefetchOf({ prefetch = PREFETCH_DEFAULT }: IngestOptions): number {
  demandRange('--prefetch', prefetch, PREFETCH_MAX);
  return prefetch;
}

function demandRange(flag: string, value: number, max: number): void {
  if (value < 1 || value > max) throw new UsageError(`${flag} must be from 1 to ${max}`);
}

function brokerUrl(from: string, setting: string | null): string {
  const brokers = parseBrokers(setting ?? '') ?? new Map<string, string>();
  const named = brokers.get(from);
  if (named !== undefined) return named;
  if (!from.includes('://')) {
    const problem = unknownName('broker', from, [...brokers.keys()]);
    throw new UsageError(`${problem}. LONGSHORE_BROKERS names brokers: NAME=amqp://HOST`);
  }
  if (!isBrokerUrl(from)) {
    throw new UsageError('--from must be a URL with amqp://, amqps://, kafka:// or kafkas://');
  }
  if (!hasPassword(from)) return from;
  throw new UsageError(
    'other users can read a password on the command line: set ' +
      'LONGSHORE_BROKERS=NAME=URL or LONGSHORE_BROKERS_FILE, and use --from NAME',
  );
}

function deadLettersOf(queue: string, options: IngestOptions): DeadLetterTarget {
  const { deadLetterQueue, deadLetterExchange, deadLetterByBroker } = options;
  const given = [deadLetterQueue, deadLetterExchange, deadLetterByBroker];
  if (given.filter((one) => one !== undefined).length > 1) {
    throw new UsageError('poison messages go to one place: use one --dead-letter-… flag');
  }
  if (deadLetterByBroker) return { kind: 'broker' };
  if (deadLetterExchange !== undefined) return { kind: 'exchange', name: deadLetterExchange };
  const name = deadLetterQueue ?? `${queue}.dead`;
  if (name === queue) throw new UsageError('--dead-letter-queue must be another queue');
  return { kind: 'queue', name };
}
