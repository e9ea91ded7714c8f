import type { Workload } from '../workloads/workload.ts';
import { median } from './numbers.ts';

export interface Row {
  system: string;
  /** With the key of the metric when the workload has several: `latency-idle.p50`. */
  workload: string;
  unit: string;
  median: number;
  min: number;
  max: number;
  rounds: number;
}

/** What `--json` writes: the rows, and the machine they were measured on. */
export interface ResultsFile {
  /** When it began, in UTC. */
  at: string;
  /** The commit of this checkout, and the command line. */
  commit: string;
  command: string;
  machine: readonly string[];
  rows: readonly Row[];
}

interface Values {
  system: string;
  workload: Workload;
  key: string;
  values: number[];
}

/** The values of all rounds, by system and metric. */
export class Results {
  readonly #values = new Map<string, Values>();

  add(workload: Workload, system: string, measured: Record<string, number>): void {
    for (const { key } of workload.metrics) {
      const value = measured[key];
      if (value === undefined || !Number.isFinite(value)) continue;
      const name = `${workload.name}\n${key}\n${system}`;
      const entry = this.#values.get(name) ?? { system, workload, key, values: [] };
      entry.values.push(value);
      this.#values.set(name, entry);
    }
  }

  rows(): Row[] {
    return [...this.#values.values()].map(({ system, workload, key, values }) => ({
      system,
      workload: metricName(workload.name, key),
      unit: workload.metrics.find((metric) => metric.key === key)?.unit ?? '',
      median: median(values),
      min: Math.min(...values),
      max: Math.max(...values),
      rounds: values.length,
    }));
  }
}

export function metricName(workload: string, key: string): string {
  return key === '' ? workload : `${workload}.${key}`;
}
