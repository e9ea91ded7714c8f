/** An invalid schedule. The message says what is valid; `field` is the invalid field. */
export class ScheduleError extends Error {
  override name = 'ScheduleError';
  readonly field: 'cron' | 'timezone' | 'startAt' | 'endAt';

  constructor(field: ScheduleError['field'], message: string) {
    super(message);
    this.field = field;
  }
}
