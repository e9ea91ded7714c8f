import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/**
 * Wall clocks that can be set wrong, one per process and while it runs. It takes a C compiler; where
 * there is none, clocks stay right and the run says so.
 */
export class WrongClocks {
  readonly #folder: string;
  readonly #library: string;

  private constructor(folder: string, library: string) {
    this.#folder = folder;
    this.#library = library;
  }

  static async prepare(folder: string): Promise<WrongClocks | string> {
    const library = join(folder, 'clock-shift.so');
    const source = fileURLToPath(new URL('./clock-shift.c', import.meta.url));
    try {
      await promisify(execFile)('gcc', ['-shared', '-fPIC', '-O1', '-o', library, source, '-ldl']);
    } catch (error) {
      return `no C compiler to make clocks wrong with (${firstLine(error)})`;
    }
    return new WrongClocks(folder, library);
  }

  /** What a process needs in its environment so that its clock can be set. */
  async environmentOf(slot: string): Promise<Record<string, string>> {
    await writeFile(this.#fileOf(slot), seconds(0));
    return { LD_PRELOAD: this.#library, CHAOS_CLOCK: this.#fileOf(slot) };
  }

  async shift(slot: string, bySeconds: number): Promise<void> {
    // Written over, not anew: the process has this very file in its memory.
    await writeFile(this.#fileOf(slot), seconds(bySeconds), { flag: 'r+' });
  }

  #fileOf(slot: string): string {
    return join(this.#folder, `clock-${slot}`);
  }
}

function seconds(count: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(BigInt(count));
  return bytes;
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';
}
