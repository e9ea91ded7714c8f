import type { Notice } from '../history/history.ts';

interface LogLine {
  msg?: string;
  reason?: string;
  jobId?: string;
  claim?: number;
}

/** What log lines tell that no table shows: above all, what was refused. */
export function noticeIn(line: string): Omit<Notice, 'at' | 'slot'> | null {
  if (!/stale outcome|fenced:|does not run here|job\.reclaimed/.test(line)) return null;
  const { msg = '', reason = '', jobId, claim } = parsed(line);
  const about = { ...(jobId && { job: jobId }), ...(claim !== undefined && { claim }) };
  if (msg.startsWith('a stale outcome was refused')) return { what: 'stale-refused', ...about };
  if (msg.startsWith('a job of ours does not run here')) return { what: 'given-back', ...about };
  if (msg === 'job.reclaimed') return { what: 'reclaimed', ...about };
  if (!msg.startsWith('fenced:')) return null;
  return { what: reason.includes('declared dead') ? 'declared-dead' : 'self-fenced' };
}

function parsed(line: string): LogLine {
  try {
    return JSON.parse(line) as LogLine;
  } catch {
    return {};
  }
}
