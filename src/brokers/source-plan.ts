import { AmqpSource, type AmqpSourceOptions } from './amqp/amqp-source.ts';
import { KafkaSource, type KafkaSourceOptions } from './kafka/kafka-source.ts';
import type { Source } from './source.ts';

/** What to consume, by the kind of its broker. */
export type SourcePlan =
  ({ kind: 'amqp' } & AmqpSourceOptions) | ({ kind: 'kafka' } & KafkaSourceOptions);

export function sourceOf(plan: SourcePlan): Source {
  return plan.kind === 'kafka' ? new KafkaSource(plan) : new AmqpSource(plan);
}
