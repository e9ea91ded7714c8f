import { isScheduleId } from '../../core/schedule/schedule-id.ts';
import type { SlotCursor } from '../../store/schedules/slots.ts';
import { foreignCursor } from './cursor.ts';

/** Opaque, so that clients do not depend on the content. */
export function wordOf(place: string): string {
  return Buffer.from(place).toString('base64url');
}

export function readIdCursor(cursor: string): string {
  const id = placeOf(cursor);
  if (!isScheduleId(id)) throw foreignCursor();
  return id;
}

export function readSlotCursor(cursor: string): SlotCursor {
  const [slot = '', local = ''] = placeOf(cursor).split(' ');
  if (!isTime(slot) || !isTime(`${local}.000Z`)) throw foreignCursor();
  return { slot, local };
}

function placeOf(cursor: string): string {
  const place = Buffer.from(cursor, 'base64url').toString();
  if (wordOf(place) !== cursor) throw foreignCursor();
  return place;
}

function isTime(text: string): boolean {
  const at = new Date(text);
  return !Number.isNaN(at.getTime()) && at.toISOString() === text;
}
