import { expect, it, onTestFinished } from 'vitest';
import { readPrometheusText } from '../../test/support/servers/prometheus-text.ts';
import { silentLog } from '../runtime/log.ts';
import { textOf } from './family.ts';
import { MetricsServer } from './metrics-server.ts';
import { processFamilies } from './process-families.ts';

const serverAt = (port: number) => {
  const text = async () => await textOf(processFamilies('1.2.3'));
  const server = new MetricsServer({ host: '127.0.0.1', port, text, log: silentLog });
  onTestFinished(async () => await server.stop());
  return server;
};

it('serves the metrics of its process, and nothing else', async () => {
  const server = serverAt(0);
  await server.start();
  await server.start();
  const at = (path: string, method = 'GET') =>
    fetch(`http://127.0.0.1:${server.port}${path}`, { method });
  const answer = await at('/metrics');
  expect(answer.headers.get('content-type')).toContain('text/plain; version=0.0.4');
  expect(readPrometheusText(await answer.text()).has('process_resident_memory_bytes')).toBe(true);
  expect((await at('/metrics', 'POST')).status).toBe(404);
  expect((await at('/')).status).toBe(404);
  const { port } = server;
  await expect(serverAt(port).start()).rejects.toThrow(/LONGSHORE_METRICS_PORT/);
  await server.stop();
  await server.stop();
  await expect(fetch(`http://127.0.0.1:${port}/metrics`)).rejects.toThrow();
});
