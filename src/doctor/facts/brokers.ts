import { checkBroker } from '../../brokers/check-broker.ts';
import { parseBrokers } from '../../core/broker/broker-url.ts';
import type { BrokerFacts } from '../brokers.ts';
import { troubleOf } from './trouble.ts';

export async function inspectBrokers(setting: string): Promise<BrokerFacts[]> {
  const brokers = [...(parseBrokers(setting) ?? [])];
  return await Promise.all(
    brokers.map(async ([name, url]) => ({
      name,
      trouble: await checkBroker(url).then(
        () => null,
        (error: unknown) => troubleOf(error).reason,
      ),
    })),
  );
}
