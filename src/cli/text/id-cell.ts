import { shortId } from '../../core/job/short-id.ts';

/** An id in a table: short on a terminal, whole where a program reads it. */
export function idCell(id: string, widthMax: number): string {
  return widthMax === Infinity ? id : shortId(id);
}
