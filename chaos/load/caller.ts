import { setTimeout as pause } from 'node:timers/promises';
import type { Call } from '../history/history.ts';
import { nowMicros } from '../history/now.ts';
import type { Recorder } from '../history/recorder.ts';
import type { Random } from '../random.ts';
import { type Answer, send } from './answer.ts';

export interface CallerOptions {
  /** The servers, by name, with the addresses at which they are reached. */
  apis: ReadonlyMap<string, string>;
  random: Random;
  recorder: Recorder;
  /** Numbers the requests of all clients. */
  nextOp(): number;
}

/** A request as HTTP has it. */
export interface Sent {
  path: string;
  /** Undefined: a GET. */
  body?: unknown;
  /** The header `Idempotency-Key`. */
  key?: string;
}

const TRIES_MAX = 200;

/** Sends each request to one of the servers, and writes down what it sent and what it heard. */
export class Caller {
  readonly #options: CallerOptions;

  constructor(options: CallerOptions) {
    this.#options = options;
  }

  async once(call: Call, { path, body, key }: Sent): Promise<Answer> {
    const { recorder, apis, nextOp, random } = this.#options;
    const [api, address] = random.pick([...apis]);
    const op = nextOp();
    recorder.write('client', { op, at: nowMicros(), phase: 'invoke', api, call });
    const method = call.name === 'get' ? 'GET' : 'POST';
    const answer = await send(`${address}${path}`, method, body, key);
    recorder.write('client', { op, at: nowMicros(), ...answer });
    return answer;
  }

  /** Sends it again until a server accepts or refuses it. */
  async insist(send: () => Promise<Answer>): Promise<Answer> {
    for (let tries = 1; ; tries += 1) {
      const answer = await send();
      if (answer.phase !== 'unknown' || tries === TRIES_MAX) return answer;
      await pause(this.#options.random.int(50, 400));
    }
  }
}
