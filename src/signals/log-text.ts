import { ownFrames } from '../core/failure/own-frames.ts';
import { shortId } from '../core/job/short-id.ts';
import { duration } from '../core/values/duration.ts';
import { printable, printableLines } from '../core/values/printable.ts';

/** The line of the log as JSON; see docs/operate/logging.md. */
interface LogLine {
  level: number;
  time: string;
  msg?: string;
  err?: { message?: string };
  jobId?: string;
  definition?: string;
  attempt?: number;
  durationMs?: number;
  next?: string;
  code?: string;
  message?: string;
  cause?: string;
  stack?: string;
  reason?: string;
  lineLevel?: string;
}

const WARN = 40;
const ERROR = 50;

const JOB_EVENTS: Record<string, (line: LogLine) => string> = {
  'job.enqueued': () => '· enqueued',
  'job.claimed': ({ attempt }) => `▶ running${attempt === 1 ? '' : `, attempt ${attempt}`}`,
  'job.succeeded': ({ durationMs }) => `✓ succeeded${took(durationMs)}`,
  'job.failed': (line) =>
    line.next === 'failed'
      ? `✗ failed on attempt ${line.attempt ?? 0}${took(line.durationMs)}${reason(line)}`
      : `↻ ${line.next}: attempt ${line.attempt} failed${took(line.durationMs)}${reason(line)}`,
  'job.reclaimed': (line) => `↻ ${line.next}: its worker was lost${reason(line)}`,
  'job.cancelled': ({ durationMs }) => `■ cancelled${took(durationMs)}`,
  'job.log': ({ message = '', lineLevel = 'info' }) =>
    `  ${lineLevel === 'info' ? '' : `${lineLevel}: `}${message}`,
  'job.returned': ({ reason: why }) =>
    why === 'suspended'
      ? '… suspended until what it waits for has happened'
      : `↻ returned to its queue${why ? `: ${why}` : ''}`,
};

/** Fields of every line, or shown otherwise. */
const OTHERS = ['level', 'time', 'msg', 'err', 'pid', 'hostname', 'role', 'service', 'traceId'];
const DEFINITION_WIDTH = 16;

/** Log lines for people: time, definition, short id, state, duration. Null: lines stay JSON. */
export function lineTextOf(format: 'json' | 'text'): ((line: string) => string) | null {
  return format === 'json' ? null : (line) => logText(line, process.cwd());
}

export function logText(json: string, folder: string): string {
  const line = JSON.parse(json) as LogLine;
  const said = JOB_EVENTS[line.msg ?? ''];
  const lines = said && line.jobId ? jobLines(line, line.jobId, said(line), folder) : plain(line);
  const [first = '', ...more] = lines;
  return `${[`${clockTime(line.time)}  ${first}`, ...more].join('\n')}\n`;
}

function jobLines(line: LogLine, jobId: string, said: string, folder: string): string[] {
  const definition = printable(line.definition ?? '').padEnd(DEFINITION_WIDTH);
  const frames = ownFrames(line.stack ?? '', folder).map((frame) => `            ${frame}`);
  return [`${definition}  ${shortId(jobId)}  ${printable(said)}`, ...frames.map(printable)];
}

function plain(line: LogLine): string[] {
  const kind = line.level >= ERROR ? 'error: ' : line.level >= WARN ? 'warning: ' : '';
  const fields = Object.entries(line).filter(([name]) => !OTHERS.includes(name));
  const about = fields.map(
    ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  const message = [line.msg ?? '', line.err?.message ?? ''].filter(Boolean).join(': ');
  const [first = '', ...more] = printableLines(message);
  return [printable([`${kind}${first}`, ...about].join('  ')), ...more.map((one) => `  ${one}`)];
}

/** The run of the code alone; claim and storing come on top. */
function took(durationMs: number | undefined): string {
  return durationMs === undefined ? '' : ` after running ${duration(durationMs)}`;
}

function reason({ code = '', message = '', cause }: LogLine): string {
  if (code === '') return '';
  const words = cause === undefined ? message : `${message} ← ${cause}`;
  return `: ${code}${words === '' ? '' : ` ${words}`}`;
}

/** The clock of the reader: 09:14:08. */
function clockTime(time: string): string {
  return new Date(time).toTimeString().slice(0, 8);
}
