import { LOG_FORMATS } from '../../core/logs/log-file.ts';
import { closed, oneOf, text, wholeInQuery } from '../fields.ts';
import { reveal } from './job-query.ts';

const HISTORY_PAGE_MAX = 1_000;
const HISTORY_PAGE_DEFAULT = 200;
const ATTEMPT_MAX = 1_000_000;

const page = {
  cursor: text(200)
    .optional()
    .describe('The nextCursor of the previous page, or the id of the last known entry.'),
  limit: wholeInQuery(1, HISTORY_PAGE_MAX)
    .default(HISTORY_PAGE_DEFAULT)
    .describe(`Page size. Default ${HISTORY_PAGE_DEFAULT}.`),
  reveal,
};

/** Query of `GET /v1/jobs/{jobId}/events`. */
export const EventQuery = closed(page);

/** Query of `GET /v1/jobs/{jobId}/stream`. */
export const StreamQuery = closed({ cursor: page.cursor, reveal });

/** Query of `GET /v1/definitions/{key}/logs`. */
export const DefinitionLogQuery = closed({
  cursor: text(200).optional().describe('The id of the last known line: later lines only.'),
  limit: wholeInQuery(1, HISTORY_PAGE_MAX)
    .default(HISTORY_PAGE_DEFAULT)
    .describe(`Number of lines to begin with. Default ${HISTORY_PAGE_DEFAULT}.`),
});

const attempt = wholeInQuery(1, ATTEMPT_MAX).optional().describe('Only lines of this attempt.');

/** Query of `GET /v1/jobs/{jobId}/logs`. */
export const LogQuery = closed({
  attempt,
  ...page,
});

/** Query of `GET /v1/jobs/{jobId}/logs/download`. */
export const LogDownloadQuery = closed({
  format: oneOf('format', LOG_FORMATS).default('text').describe('Default text.'),
  attempt,
  reveal,
});
