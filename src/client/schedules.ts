import type { CatchUp, DstGap, DstRepeat, Overlap } from '../core/schedule/schedule.ts';
import type { ScheduleView, SlotView } from '../core/schedule/schedule.ts';
import { isScheduleId } from '../core/schedule/schedule-id.ts';
import { NotFound } from './http/problems.ts';
import type { DefinitionRef } from './job.ts';
import { queryOf } from './http/query.ts';
import type { Transport } from './http/transport.ts';

/** A schedule, and a slot of one, as the server shows them. */
export type Schedule = ScheduleView;
export type Slot = SlotView;

/** All that can be said about a schedule; what is left out has a default. */
export interface ScheduleOptions {
  /** Unique among the schedules of a definition. */
  name?: string | null | undefined;
  /** Null, the default, is the highest published one each time. */
  definitionVersion?: number | null | undefined;
  /** An IANA name; UTC is usual. */
  timezone?: string | undefined;
  params?: unknown;
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

/** An instant at which a schedule will run. */
export interface Upcoming {
  at: string;
  offset: string;
  note: string | null;
}

/** What can be done with schedules: `client.schedules`. */
export class Schedules {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Not sent again after a broken connection: it might be made twice. */
  async create(
    definition: DefinitionRef | string,
    cron: string,
    options: ScheduleOptions = {},
  ): Promise<Schedule> {
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

  /** One page. `listAll` walks over all of them. */
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

  /** What is not named stays as it is. A change never fires the past. */
  async update(id: string, changes: ScheduleOptions & { cron?: string }): Promise<Schedule> {
    const path = pathOf(id);
    return await this.#transport.call({ method: 'PATCH', path, body: changes, repeatable: true });
  }

  async pause(id: string): Promise<Schedule> {
    return await this.#post(`${pathOf(id)}/pause`, true);
  }

  /** Goes on with the first slot from now on. */
  async resume(id: string): Promise<Schedule> {
    return await this.#post(`${pathOf(id)}/resume`, true);
  }

  /** Makes one of its jobs now, also while it is paused. */
  async trigger(id: string): Promise<{ jobId: string }> {
    return await this.#post(`${pathOf(id)}/trigger`, false);
  }

  async next(id: string, count?: number): Promise<Upcoming[]> {
    const path = `${pathOf(id)}/next`;
    return (await this.#get<{ next: Upcoming[] }>(path, queryOf({ count }))).next;
  }

  /** What became of its slots, the newest first. */
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

/** What is no id would be another path, so it is not sent at all. */
function pathOf(id: string): string {
  if (isScheduleId(id)) return `/v1/schedules/${id}`;
  throw new NotFound(404, 'NOT_FOUND', `no schedule has the id "${id}"`);
}
