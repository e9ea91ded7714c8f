import { counter, type Family, gauge } from './family.ts';

/** What every process can tell of itself; it begins anew with each start. */
export function processFamilies(version: string): Family[] {
  const { user, system } = process.cpuUsage();
  const plain = (value: number) => [{ labels: {}, value }];
  return [
    gauge('longshore_build_info', 'The release that this process runs.', [
      { labels: { version }, value: 1 },
    ]),
    counter(
      'process_cpu_seconds_total',
      'The processor time of this process.',
      plain((user + system) / 1e6),
    ),
    gauge(
      'process_resident_memory_bytes',
      'The memory of this process.',
      plain(process.memoryUsage.rss()),
    ),
    gauge('process_uptime_seconds', 'For how long it has run.', plain(process.uptime())),
  ];
}
