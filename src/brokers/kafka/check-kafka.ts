import {
  clientOptions,
  closeKafka,
  guarded,
  kafkaAddress,
  loadKafka,
  plainError,
} from './kafka-client.ts';

/** Connects, and looks for the topic that events go to. */
export async function checkKafka(url: string): Promise<void> {
  const { Base } = await loadKafka();
  const address = kafkaAddress(url);
  const client = guarded(new Base({ ...clientOptions(address, 'doctor'), retries: 0 }));
  client.on('error', () => undefined);
  try {
    await client.metadata({ topics: address.topic === null ? [] : [address.topic] });
  } catch (error) {
    throw plainError(error);
  } finally {
    await closeKafka(async () => await client.close());
  }
}
