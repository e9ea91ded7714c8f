import type { WantedJob } from '../history/history.ts';
import { sha } from '../history/effects.ts';
import type { Random } from '../random.ts';
import { GROUP_SIZE, NARROW_KEYS, narrowLimits, STALL_TIMEOUT_MS } from './limits.ts';
import { type Behaviour, childrenOf, type Script } from './script.ts';

/** The body of a request for one job, and how the history knows it. */
export interface Request {
  body: Record<string, unknown> & { params: Script };
  wanted: WantedJob;
}

/** Which entries a run asks for, and how often. */
export type Mix = Partial<Record<Behaviour | 'batch', number>>;

const PLENTY = 12;
const PATIENT = { timeoutSeconds: 60 };
const AGAIN_MS = 5_000;
const LONG_MS = 6_000;

/** Makes requests by chance. Each has params that no other one has. */
export class Requests {
  readonly #random: Random;
  readonly #name: string;
  #made = 0;

  constructor(name: string, random: Random) {
    this.#name = name;
    this.#random = random;
  }

  /** Works longer than a cancel may take to arrive, so that a lost cancel shows. */
  longToCancel(): Request {
    return request('scripted', { ...this.#params('slow'), holdMs: LONG_MS, times: 0 });
  }

  make(does: Behaviour): Request {
    const random = this.#random;
    const base = this.#params(does);
    switch (does) {
      case 'ok':
        return this.#easy(base, this.#timing());
      case 'cold':
        return request('cold', base);
      case 'narrow':
        return this.#narrow(base);
      case 'deployed':
        return this.#deployed(base);
      case 'probe':
        // A line of its own, in front of all others.
        return request('quick', base, { priority: 1_000 + this.#made });
      case 'slow':
        return request('scripted', {
          ...base,
          // Some of them are longer than a lease.
          holdMs: random.chance(0.15) ? LONG_MS : random.int(5, 30) * 100,
          times: random.chance(0.3) ? 1 : 0,
        });
      case 'long':
        return request('scripted', { ...base, holdMs: random.int(120, 200) * 100 }, PATIENT);
      case 'hang':
        return request('scripted', { ...base, times: 1 }, { timeoutSeconds: 1 });
      case 'stall':
        return this.#silent(base);
      case 'give-up':
        return request('scripted', { ...base, times: 99 });
      case 'poison':
        return request('scripted', { ...base, times: 99 }, { maxAttempts: 2 });
      case 'relapse':
        return request('scripted', { ...base, times: 1, againMs: AGAIN_MS });
      case 'grouped':
        return this.#grouped(base);
      case 'wait':
        // Those with a limit must return their permits while they wait.
        if (random.chance(0.4)) return this.#narrow(base);
        return request('scripted', { ...base, times: random.chance(0.2) ? 1 : 0 });
      case 'sleep':
        return this.#sleeping(base);
      case 'spawn':
        return this.fanOut(random.int(1, 20));
      case 'snooze':
        return request('scripted', { ...base, times: 99, delayMs: random.int(50, 800) });
      case 'retry-after':
        return request('scripted', { ...base, times: 2, delayMs: random.int(50, 800) });
      case 'throw':
      case 'crash':
      case 'memory': {
        // Some of them never succeed and end as dead letters.
        const hopeless = random.chance(0.2);
        const times = hopeless ? 99 : random.int(1, 2);
        const attempts = hopeless ? { maxAttempts: 2 } : {};
        return request('scripted', { ...base, times, holdMs: random.int(0, 50) }, attempts);
      }
    }
  }

  /** Asks for nothing special, not even a time: the way of these into the store is another one. */
  plain(): Request {
    return this.#easy(this.#params('ok'), {});
  }

  /** Runs after these jobs. */
  follower(after: string[]): Request {
    const runsAnyway = this.#random.chance(0.3);
    const onParentFailure = runsAnyway ? 'run' : this.#random.pick(['fail', 'fail', 'cancel']);
    const made = request('quick', this.#params('ok'), { after, onParentFailure });
    return { ...made, wanted: { ...made.wanted, after, runsAnyway } };
  }

  /** Has so many children; now and then its first attempt fails when they are stored. */
  fanOut(children: number): Request {
    const times = this.#random.chance(0.2) ? 1 : 0;
    const { n, does } = this.#params('spawn');
    const made = request('family', { n, does, children, times });
    const spawns = childrenOf({ n, children }).map((script) => sha(JSON.stringify(script)));
    return { ...made, wanted: { ...made.wanted, spawns } };
  }

  /** A job of a batch: most succeed, some only later or never. */
  member(): Request {
    return this.make(this.#random.weighted({ ok: 16, throw: 3, slow: 1, 'give-up': 0.5 }));
  }

  /** Runs after a batch, and says how that ended. */
  callback(): Request {
    return request('callback', this.#params('ok'));
  }

  /** Works for so long, and throws. */
  failing(holdMs: number): Request {
    return request('scripted', { ...this.#params('throw'), times: 1, holdMs });
  }

  /** Nothing special, but for how long it takes should it be run a second time. */
  #easy(params: Script, timing: Record<string, unknown>): Request {
    const kind = this.#random.weighted({ quick: 5, inline: 2, scripted: 3 });
    const script = kind === 'scripted' ? { ...params, againMs: AGAIN_MS } : params;
    return request(kind, script, timing);
  }

  /** Runs the code of this deployment, whatever is released. */
  pinned(number: number): Request {
    const made = request('deployed', this.#params('deployed'), { definitionVersion: number });
    return { ...made, wanted: { ...made.wanted, pinned: number } };
  }

  /** Some fail at first, and keep their deployment; some get it when they become due. */
  #deployed(base: Script): Request {
    const random = this.#random;
    const script = { ...base, times: random.chance(0.2) ? 1 : 0, holdMs: random.int(0, 30) };
    return request('deployed', script, this.#timing());
  }

  /** Some end their process when the sleep is stored; those inside a worker cannot. */
  #sleeping(base: Script): Request {
    const random = this.#random;
    const [delayMs, holdMs] = [random.int(100, 1_500), random.int(0, 200)];
    if (random.chance(0.5)) return request('inline', { ...base, delayMs, holdMs });
    const times = random.chance(0.4) ? 1 : 0;
    return request('scripted', { ...base, delayMs, holdMs, times });
  }

  #narrow(base: Script): Request {
    const random = this.#random;
    const concurrencyKey = `key-${random.int(1, NARROW_KEYS)}`;
    const made = request('narrow', { ...base, holdMs: random.int(10, 60) }, { concurrencyKey });
    return { ...made, wanted: { ...made.wanted, limits: narrowLimits(concurrencyKey) } };
  }

  /** Some fail at first, and some always; one in a while ends the process of its group. */
  #grouped(base: Script): Request {
    const random = this.#random;
    const hopeless = random.chance(0.05);
    const times = hopeless ? 99 : random.chance(0.15) ? 1 : 0;
    const crashes = random.chance(0.03) ? { crashes: true as const } : {};
    const script = { ...base, times, holdMs: random.int(0, 30), ...crashes };
    const made = request('grouped', script, hopeless ? { maxAttempts: 2 } : {});
    return { ...made, wanted: { ...made.wanted, groupSize: GROUP_SIZE } };
  }

  #silent(base: Script): Request {
    const made = request('silent', {
      ...base,
      times: 1,
      holdMs: this.#random.int(32, 40) * 100,
    });
    return { ...made, wanted: { ...made.wanted, stallTimeoutMs: STALL_TIMEOUT_MS } };
  }

  #params(does: Behaviour): Script {
    this.#made += 1;
    const pad = this.#random.chance(0.1) ? { pad: 'x'.repeat(this.#random.int(1, 20_000)) } : {};
    return { n: `${this.#name}-${this.#made}`, does, ...pad };
  }

  /** Most run at once, some later; a few are more urgent than others. */
  #timing(): Record<string, unknown> {
    const random = this.#random;
    if (random.chance(0.15)) return { delayMs: random.int(100, 3_000) };
    return random.chance(0.2) ? { priority: random.int(-3, 3) } : {};
  }
}

function request(
  definitionKey: string,
  params: Script,
  more: Record<string, unknown> = {},
): Request {
  const { delayMs = 0 } = more as { delayMs?: number };
  const paramsSha = sha(JSON.stringify(params));
  const wanted = { paramsSha, definition: definitionKey, does: params.does, delayMs };
  return { body: { definitionKey, params, maxAttempts: PLENTY, ...more }, wanted };
}
