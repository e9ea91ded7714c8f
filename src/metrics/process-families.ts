import { counter, type Family, gauge } from './family.ts';

/** Metrics of this process; they start over with each start. */
export function processFamilies(version: string): Family[] {
  const { user, system } = process.cpuUsage();
  const plain = (value: number) => [{ labels: {}, value }];
  return [
    gauge('longshore_build_info', 'Version of this process.', [{ labels: { version }, value: 1 }]),
    counter('process_cpu_seconds_total', 'CPU time of this process.', plain((user + system) / 1e6)),
    gauge(
      'process_resident_memory_bytes',
      'Memory of this process.',
      plain(process.memoryUsage.rss()),
    ),
    gauge('process_uptime_seconds', 'Uptime of this process.', plain(process.uptime())),
  ];
}
