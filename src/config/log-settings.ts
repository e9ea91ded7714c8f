import { DEFAULT_JOB_LINES } from '../core/views/job-log.ts';
import { LOG_FORMATS, LOG_LEVELS } from './config.ts';
import { fallback, named, type Setting } from './setting.ts';

/** Settings of logs and traces (docs/operate/logging.md). */
export const LOG_SETTINGS: readonly Setting[] = [
  {
    ...named('logLevel', 'LONGSHORE_LOG_LEVEL', 'server', 'level'),
    kind: { type: 'choice', choices: LOG_LEVELS },
    fallback: () => 'info',
    fallbackText: '`info`, and `warn` for `start` on a terminal',
    meaning: 'Minimum level of log lines, printed on stderr.',
  },
  {
    ...named('logFormat', 'LONGSHORE_LOG_FORMAT', 'server', 'format'),
    kind: { type: 'choice', choices: LOG_FORMATS },
    fallback: () => 'json',
    fallbackText: '`json`, and `text` for `dev`',
    meaning:
      'Format of log lines: `json` for programs, `text` for people (docs/operate/logging.md).',
  },
  {
    ...named('logJobs', 'LONGSHORE_LOG_JOBS', 'server', 'which'),
    kind: { type: 'job-lines' },
    fallback: () => DEFAULT_JOB_LINES,
    fallbackText: '`failures`, and `all+errors+output` for `dev`',
    meaning:
      'Which jobs are logged: `off`, `failures`, `all`, or a share of jobs such as `0.01` in addition ' +
      'to failures; `+errors` adds messages and stacks of errors, as in `failures+errors`, and `+output` the lines ' +
      'that jobs write (docs/operate/logging.md).',
  },
  {
    ...named('tracing', 'LONGSHORE_TRACING', 'server', 'path'),
    kind: { type: 'text' },
    ...fallback(null, 'none'),
    meaning:
      'File that registers an OpenTelemetry SDK; imported by the processes of the server and of jobs ' +
      '(docs/operate/tracing.md).',
  },
];
