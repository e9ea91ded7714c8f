/** A schedule that cannot work. The message says what is right; `field` is what is wrong. */
export class ScheduleError extends Error {
  override name = 'ScheduleError';
  readonly field: 'cron' | 'timezone' | 'startAt' | 'endAt';

  constructor(field: ScheduleError['field'], message: string) {
    super(message);
    this.field = field;
  }
}
