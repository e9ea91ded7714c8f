import { closeAmqp, connectAmqp, loadAmqp } from './amqp-client.ts';

/** Connects, and looks for the exchange that events go to. Rejects when one of them is missing. */
export async function checkAmqp(url: string): Promise<void> {
  const connection = await connectAmqp(await loadAmqp(), url, 'doctor');
  try {
    const exchange = new URL(url).searchParams.get('exchange');
    if (exchange === null) return;
    const channel = await connection.createChannel();
    channel.on('error', () => undefined);
    await channel.checkExchange(exchange);
  } finally {
    await closeAmqp(connection);
  }
}
