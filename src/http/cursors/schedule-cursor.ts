import { isScheduleId } from '../../core/schedule/schedule-id.ts';
import type { SlotCursor } from '../../store/schedules/slots.ts';
import { foreignCursor } from './cursor.ts';

/** Opaque, so that clients do not depend on the content. */
export function encodeCursor(content: string): string {
  return Buffer.from(content).toString('base64url');
}

export function readIdCursor(cursor: string): string {
  const id = decodeCursor(cursor);
  if (!isScheduleId(id)) throw foreignCursor();
  return id;
}

export function readSlotCursor(cursor: string): SlotCursor {
  const [slot = '', local = ''] = decodeCursor(cursor).split(' ');
  if (!isTime(slot) || !isTime(`${local}.000Z`)) throw foreignCursor();
  return { slot, local };
}

function decodeCursor(cursor: string): string {
  const content = Buffer.from(cursor, 'base64url').toString();
  if (encodeCursor(content) !== cursor) throw foreignCursor();
  return content;
}

function isTime(text: string): boolean {
  const at = new Date(text);
  return !Number.isNaN(at.getTime()) && at.toISOString() === text;
}
