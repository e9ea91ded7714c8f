import { createWriteStream, type WriteStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type {
  ClientEvent,
  DeployCall,
  FaultEvent,
  Leftovers,
  MadeSchedule,
  Notice,
  PhaseEvent,
  ProcessEvent,
  Run,
} from './history.ts';
import { clockSample } from './now.ts';

/** What is written while the run goes on; the rest comes from the jobs and from the database. */
export interface Recorded {
  client: ClientEvent;
  faults: FaultEvent;
  processes: ProcessEvent;
  notices: Notice;
  phases: PhaseEvent;
  schedules: MadeSchedule;
  deploys: DeployCall;
  clock: ReturnType<typeof clockSample>;
}

const CLOCK_EVERY_MS = 1_000;

/** Appends what happens to files of JSON lines in the folder of the run. */
export class Recorder {
  readonly folder: string;
  readonly #streams = new Map<string, WriteStream>();
  readonly #clock: NodeJS.Timeout;

  constructor(folder: string) {
    this.folder = folder;
    this.write('clock', clockSample());
    this.#clock = setInterval(() => this.write('clock', clockSample()), CLOCK_EVERY_MS);
  }

  write<Name extends keyof Recorded>(name: Name, event: Recorded[Name]): void {
    this.line(`${name}.jsonl`, JSON.stringify(event));
  }

  line(file: string, text: string): void {
    let stream = this.#streams.get(file);
    if (!stream) {
      stream = createWriteStream(join(this.folder, file), { flags: 'a' });
      this.#streams.set(file, stream);
    }
    stream.write(`${text}\n`);
  }

  async document(name: 'run' | 'leftovers', value: Run | Leftovers): Promise<void> {
    await writeFile(join(this.folder, `${name}.json`), JSON.stringify(value, null, 2));
  }

  async close(): Promise<void> {
    clearInterval(this.#clock);
    await Promise.all(
      [...this.#streams.values()].map(
        async (stream) => await new Promise<void>((resolve) => void stream.end(resolve)),
      ),
    );
    this.#streams.clear();
  }
}
