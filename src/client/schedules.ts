import type { EnqueueWarning } from '../core/definition/enqueue-warning.ts';
import type { CatchUp, DstGap, DstRepeat, Overlap } from '../core/schedule/schedule.ts';
import type { ScheduleView, SlotView } from '../core/schedule/schedule.ts';
import { isScheduleId } from '../core/schedule/schedule-id.ts';
import { notFound } from './http/problems.ts';
import type { DefinitionRef, InputOf } from './job.ts';
import { queryOf } from './http/query.ts';
import { refuseUndefined } from './http/request-body.ts';
import type { Transport } from './http/transport.ts';

/** A schedule, and a slot of one, as the server shows them. */
export type Schedule = ScheduleView;
export type Slot = SlotView;

/** A schedule that was just created. */
export type NewSchedule = Schedule & {
  /** Only if there are any, such as UNREGISTERED: no worker has registered the definition. */
  warnings?: EnqueueWarning[] | undefined;
};

/** The fields of a schedule; all but `cron` have defaults. */
export interface ScheduleOptions<Input = unknown> {
  /** Unique among the schedules of a definition. */
  name?: string | null | undefined;
  /** Null, the default, means the highest published version at each run. */
  definitionVersion?: number | null | undefined;
  /** An IANA name; default UTC. */
  timezone?: string | undefined;
  params?: Input | undefined;
  priority?: number | undefined;
  enabled?: boolean | undefined;
  startAt?: Date | string | null | undefined;
  endAt?: Date | string | null | undefined;
  jitterMs?: number | undefined;
  dstGap?: DstGap | undefined;
  dstRepeat?: DstRepeat | undefined;
  catchUp?: CatchUp | undefined;
  catchUpWindowMs?: number | undefined;
  catchUpMax?: number | undefined;
  overlap?: Overlap | undefined;
}

export interface NewScheduleOptions<Input = unknown> extends ScheduleOptions<Input> {
  /** Refuse the schedule when no worker has registered its definition, or accept it with a warning. */
  requireRegistered?: boolean | undefined;
}

/** What determines the runs of a schedule beside its cron expression. */
export type PreviewOptions = Pick<ScheduleOptions, 'timezone' | 'dstGap' | 'dstRepeat'> & {
  startAt?: Date | string | undefined;
  endAt?: Date | string | undefined;
};

export interface ScheduleFilter {
  definitionKey?: string | undefined;
  name?: string | undefined;
  enabled?: boolean | undefined;
  cursor?: string | undefined;
  limit?: number | undefined;
}

export interface SchedulePage {
  schedules: Schedule[];
  nextCursor: string | null;
}

export interface SlotPage {
  slots: Slot[];
  nextCursor: string | null;
}

/** One of the next runs of a schedule. */
export interface Upcoming {
  at: string;
  offset: string;
  note: string | null;
}

/** Schedules: `client.schedules`. */
export class Schedules {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Not repeated after a broken connection: it could create a second one. */
  async create<Of extends DefinitionRef | string>(
    definition: Of,
    cron: string,
    options: NewScheduleOptions<NoInfer<InputOf<Of>>> = {},
  ): Promise<NewSchedule> {
    refuseUndefined(definition);
    const definitionKey = typeof definition === 'string' ? definition : definition.key;
    const body = { ...options, definitionKey, cron };
    return await this.#transport.call({
      method: 'POST',
      path: '/v1/schedules',
      body,
      repeatable: false,
    });
  }

  async get(id: string): Promise<Schedule> {
    return await this.#get(pathOf(id));
  }

  /** One page. `listAll` reads all pages. */
  async list(filter: ScheduleFilter = {}): Promise<SchedulePage> {
    return await this.#get('/v1/schedules', queryOf(filter));
  }

  async *listAll(filter: ScheduleFilter = {}): AsyncGenerator<Schedule, void, undefined> {
    let cursor = filter.cursor;
    do {
      const page = await this.list({ ...filter, cursor });
      yield* page.schedules;
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
  }

  /** Omitted fields stay unchanged. A change fires no past slot. */
  async update(id: string, changes: ScheduleOptions & { cron?: string }): Promise<Schedule> {
    const path = pathOf(id);
    return await this.#transport.call({ method: 'PATCH', path, body: changes, repeatable: true });
  }

  /** Repeating it changes the reason. */
  async pause(id: string, reason: string | null = null): Promise<Schedule> {
    const path = `${pathOf(id)}/pause`;
    return await this.#transport.call({
      method: 'POST',
      path,
      body: { reason },
      repeatable: true,
    });
  }

  /** Continues with the first slot from now on. */
  async resume(id: string): Promise<Schedule> {
    return await this.#post(`${pathOf(id)}/resume`, true);
  }

  /** Starts a job now, also while the schedule is paused. */
  async trigger(id: string): Promise<{ jobId: string }> {
    return await this.#post(`${pathOf(id)}/trigger`, false);
  }

  async next(id: string, count?: number): Promise<Upcoming[]> {
    const path = `${pathOf(id)}/next`;
    return (await this.#get<{ next: Upcoming[] }>(path, queryOf({ count }))).next;
  }

  /** The runs that a schedule with this timing would have; nothing is stored. */
  async preview(cron: string, timing: PreviewOptions = {}, count?: number): Promise<Upcoming[]> {
    const query = queryOf({ cron, ...timing, count });
    return (await this.#get<{ next: Upcoming[] }>('/v1/schedules/preview', query)).next;
  }

  /** Its slots and what became of them, the newest first. */
  async slots(id: string, page: { cursor?: string; limit?: number } = {}): Promise<SlotPage> {
    return await this.#get(`${pathOf(id)}/slots`, queryOf(page));
  }

  async delete(id: string): Promise<void> {
    await this.#transport.call({ method: 'DELETE', path: pathOf(id), repeatable: false });
  }

  async #get<T>(path: string, query = new URLSearchParams()): Promise<T> {
    return await this.#transport.call<T>({ method: 'GET', path, query, repeatable: true });
  }

  async #post<T>(path: string, repeatable: boolean): Promise<T> {
    return await this.#transport.call<T>({ method: 'POST', path, repeatable });
  }
}

/** An invalid id could change the path, so no request is sent. */
function pathOf(id: string): string {
  if (isScheduleId(id)) return `/v1/schedules/${id}`;
  throw notFound('schedule', id);
}
