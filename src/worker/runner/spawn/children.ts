import {
  AwaitChildren,
  ChildrenFailed,
  type WaitForChildrenOptions,
} from '../../../core/definition/define.ts';
import {
  askedText,
  childBody,
  type ChildJob,
  type ChildOutcome,
  type ChildRequest,
  CHILDREN_MAX,
  CHILDREN_STEP,
  type KnownChild,
  SPAWN_MAX,
  SPAWN_MAX_CHARS,
  type SpawnEntry,
  unnamedChild,
  waitChildrenStep,
} from '../../../core/dependency/children.ts';
import { omittedWarning } from '../../../core/dependency/dependency.ts';
import { checkParams, PARAMS_MAX_BYTES } from '../../../core/job/params.ts';
import type { Saves } from '../saves.ts';
import type { Waits } from '../waits.ts';

/**
 * The children of one attempt. Those of earlier attempts are known from its start, by their names.
 * A wait stores how many children it waits for: when the code runs again, it waits for the same,
 * also if later code has spawned more.
 */
export class Children {
  readonly #saves: Saves;
  readonly #waits: Waits;
  readonly #paramsMaxBytes: number;
  readonly #warn: (text: string) => void;
  readonly #known = new Map<string, KnownChild>();
  /** By position. */
  readonly #all: (Pick<KnownChild, 'id' | 'name' | 'outcome'> | undefined)[] = [];
  readonly #pending = new Set<Promise<unknown>>();
  #unnamed = 0;
  #waitsSoFar = 0;

  /** The server has the exact limit of params. */
  constructor(
    saves: Saves,
    waits: Waits,
    paramsMaxBytes: number | undefined,
    warn: (text: string) => void,
  ) {
    this.#saves = saves;
    this.#waits = waits;
    this.#paramsMaxBytes = paramsMaxBytes ?? PARAMS_MAX_BYTES;
    this.#warn = warn;
    const known = (saves.find(CHILDREN_STEP)?.value ?? []) as KnownChild[];
    for (const child of known) {
      this.#known.set(child.name, child);
      this.#all.push(child);
    }
  }

  async spawn(entry: SpawnEntry): Promise<ChildJob> {
    const [child] = await this.spawnMany([entry]);
    if (!child) throw new Error('the worker did not store the child');
    return child;
  }

  async spawnMany(entries: readonly SpawnEntry[]): Promise<ChildJob[]> {
    if (!Array.isArray(entries)) throw new TypeError('spawnMany takes a list of children');
    // Before anything is awaited: the places of unnamed children follow the order of calls.
    const asked = (entries as readonly SpawnEntry[]).map((entry) => this.#request(entry));
    refuseTwins(asked);
    const work = this.#store(asked);
    this.#pending.add(work);
    try {
      return await work;
    } finally {
      this.#pending.delete(work);
    }
  }

  async wait<Result>({
    onFailure = 'throw',
  }: WaitForChildrenOptions): Promise<ChildOutcome<Result>[]> {
    if (onFailure !== 'throw' && onFailure !== 'return') {
      throw new TypeError('onFailure of waitForChildren is "throw" or "return"');
    }
    const step = waitChildrenStep((this.#waitsSoFar += 1));
    await Promise.allSettled(this.#pending);
    const awaited = await this.#saves.own(step, () => this.#all.length);
    const outcomes: ChildOutcome<Result>[] = [];
    for (const child of this.#all.slice(0, awaited)) {
      if (!child?.outcome) this.#waits.end(new AwaitChildren());
      const { id, name, outcome } = child;
      outcomes.push({ id, name, ...outcome, result: outcome.result as Result | null });
    }
    const omitted = omittedWarning(outcomes, 'children');
    if (omitted !== null) this.#warn(omitted);
    const failed = outcomes.some(({ state }) => state !== 'succeeded');
    if (failed && onFailure === 'throw') throw new ChildrenFailed(outcomes);
    return outcomes;
  }

  #request(entry: SpawnEntry): ChildRequest {
    const { name, job } = childBody(entry);
    const checked = checkParams(
      job['params'] === undefined ? {} : job['params'],
      this.#paramsMaxBytes,
    );
    if (!checked.ok) throw new TypeError(`spawn: params${checked.pointer}: ${checked.detail}`);
    const params = JSON.parse(checked.json) as unknown;
    return { name: name ?? unnamedChild((this.#unnamed += 1)), job: { ...job, params } };
  }

  async #store(asked: readonly ChildRequest[]): Promise<ChildJob[]> {
    const fresh = asked.filter(({ name }) => !this.#known.has(name));
    if (this.#all.length + fresh.length > CHILDREN_MAX) {
      throw new TypeError(`a job can have ${CHILDREN_MAX} children: let a child spawn the others`);
    }
    const made = new Map<string, ChildJob>();
    for (const part of parts(fresh)) {
      const spawned = await this.#saves.spawn(part);
      for (const [index, { id, position, differs, warning }] of spawned.entries()) {
        const name = part[index]?.name ?? '';
        made.set(name, { jobId: id });
        this.#all[position] ??= { id, name, outcome: null };
        if (differs) this.#warnDiffers(name, id);
        if (warning !== undefined) this.#warn(warning);
      }
    }
    for (const { name, job } of asked) {
      const known = this.#known.get(name);
      if (!known) continue;
      made.set(name, { jobId: known.id });
      const hash = await sha256(askedText(job['definitionKey'], job['params']));
      if (hash !== known.asked) this.#warnDiffers(name, known.id);
    }
    return asked.flatMap(({ name }) => made.get(name) ?? []);
  }

  #warnDiffers(name: string, id: string): void {
    const which = `the child ${name} exists as job ${id} with another definition or other params`;
    this.#warn(`${which}, and stays as it is; give children names if their order can change`);
  }
}

function refuseTwins(asked: readonly ChildRequest[]): void {
  const names = new Set<string>();
  for (const { name } of asked) {
    if (names.has(name)) throw new TypeError(`two children of one call have the name ${name}`);
    names.add(name);
  }
}

/** Each part fits into one message. */
function* parts(children: readonly ChildRequest[]): Generator<ChildRequest[]> {
  let part: ChildRequest[] = [];
  let chars = 0;
  for (const child of children) {
    const length = JSON.stringify(child).length;
    if (part.length === SPAWN_MAX || (part.length > 0 && chars + length > SPAWN_MAX_CHARS)) {
      yield part;
      part = [];
      chars = 0;
    }
    part.push(child);
    chars += length;
  }
  if (part.length > 0) yield part;
}

async function sha256(text: string): Promise<string> {
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Buffer.from(hash).toString('hex');
}
