import { isScheduleId } from '../core/schedule-id.ts';
import { Refusal } from '../protocol/refusal.ts';
import type { SlotPlace } from '../store/slots.ts';

/** Cursors are opaque words, so that nobody comes to depend on what is in them. */
export function wordOf(place: string): string {
  return Buffer.from(place).toString('base64url');
}

export function readIdCursor(cursor: string): string {
  const id = placeOf(cursor);
  return isScheduleId(id) ? id : foreign();
}

export function readSlotCursor(cursor: string): SlotPlace {
  const [slot = '', local = ''] = placeOf(cursor).split(' ');
  const right = isTime(slot) && isTime(`${local}.000Z`);
  return right ? { slot, local } : foreign();
}

function placeOf(cursor: string): string {
  const place = Buffer.from(cursor, 'base64url').toString();
  return wordOf(place) === cursor ? place : foreign();
}

function isTime(text: string): boolean {
  const at = new Date(text);
  return !Number.isNaN(at.getTime()) && at.toISOString() === text;
}

function foreign(): never {
  const detail = 'is not a cursor of this API: take nextCursor as it was answered';
  const errors = [{ pointer: '/cursor', detail }];
  throw new Refusal('VALIDATION_FAILED', `/cursor: ${detail}`, { errors });
}
