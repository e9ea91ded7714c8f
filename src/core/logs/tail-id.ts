import { isJobId } from '../job/job-id.ts';
import { type HistoryPosition, parsePosition, positionText } from '../views/history-position.ts';

/**
 * The id of a line in the log of a definition: when its chunk was stored, its job, and its position
 * in the log of the job. A reader that resumes continues a little before this time, because chunks
 * are not committed in the order of their times; it drops the ids that it has.
 */
export interface TailId {
  storedAtMs: number;
  jobId: string;
  position: HistoryPosition;
}

export function tailIdText({ storedAtMs, jobId, position }: TailId): string {
  return `${storedAtMs}.${jobId}.${positionText(position)}`;
}

/** Null when the text is not such an id. */
export function parseTailId(text: string): TailId | null {
  const [time = '', jobId = '', place = '', ...more] = text.split('.');
  const position = parsePosition(place);
  if (!/^\d{1,15}$/.test(time) || !isJobId(jobId) || !position || more.length > 0) return null;
  return { storedAtMs: Number(time), jobId, position };
}
