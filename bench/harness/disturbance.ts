import { readFileSync } from 'node:fs';
import { sleep } from './clock.ts';
import { median } from './numbers.ts';

const LOOK_MS = 150;
const STEAL = 7;
const IDLE = [3, 4];

/** How much CPU other processes used: figures of a busy machine mean less, and the report has it. */
export class Disturbance {
  readonly #start = ticks();
  readonly #busy: number[] = [];

  /** Taken between measurements, when the benchmark itself does nothing. */
  async look(): Promise<void> {
    const before = ticks();
    await sleep(LOOK_MS);
    const spent = difference(ticks(), before);
    const idle = IDLE.reduce((sum, i) => sum + (spent[i] ?? 0), 0);
    this.#busy.push(1 - idle / Math.max(1, total(spent)));
  }

  line(): string {
    const spent = difference(ticks(), this.#start);
    const stolen = (spent[STEAL] ?? 0) / Math.max(1, total(spent));
    return (
      `between measurements the CPUs were ${percent(median(this.#busy))} busy with other work ` +
      `(at most ${percent(Math.max(0, ...this.#busy))}); ${percent(stolen)} of all time was stolen`
    );
  }
}

/** User, nice, system, idle, iowait, irq, softirq and steal of all CPUs together. */
function ticks(): number[] {
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
  return line.trim().split(/\s+/).slice(1, 9).map(Number);
}

function difference(later: readonly number[], earlier: readonly number[]): number[] {
  return later.map((value, i) => value - (earlier[i] ?? 0));
}

function total(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

function percent(part: number): string {
  return `${Math.round(part * 100)} %`;
}
