import { z } from 'zod';
import { ALERT_RULE_NAMES } from '../core/alert/alert.ts';
import { isClockTime, isEndless, isTimezone, WEEKDAYS } from '../core/alert/quiet-hours.ts';
import {
  ALERT_CHANNELS,
  type AlertMessageView,
  type AlertRouteView,
  GROUP_SECONDS_DEFAULT,
  GROUP_SECONDS_MAX,
  isMailAddress,
  MESSAGE_KINDS,
  RECIPIENTS_MAX,
  ROUTE_NAME,
} from '../core/alert/route.ts';
import { DELIVERY_STATUSES, WEBHOOK_URL_MAX } from '../core/webhook/webhook.ts';
import { SendAnswer } from './answers/webhook-answer.ts';
import {
  closed,
  definitionKey,
  flag,
  list,
  oneOf,
  says,
  text,
  whole,
  wholeInQuery,
} from './fields.ts';
import { PAGE_DEFAULT, PAGE_MAX } from './requests/job-query.ts';

const Moment = z.iso.datetime();
const FILTER_MAX = 100;

export const AlertRouteParams = z.object({
  name: z
    .string()
    .describe('The name of the route.')
    .meta({ examples: ['on-call'] }),
});

/** Null when the name is valid. */
export function routeNameProblem(name: string): string | null {
  if (ROUTE_NAME.test(name)) return null;
  return 'must be 1 to 63 lower-case letters, digits and -, a letter or digit first';
}

function clockTime() {
  const right = says('must be a time of the day like 22:00');
  return z.string(right).refine(isClockTime, right);
}

const quietHours = () =>
  closed({
    from: clockTime()
      .describe('The first quiet minute.')
      .meta({ examples: ['22:00'] }),
    to: clockTime()
      .describe('The first minute that is not quiet; at or before `from`: of the next day.')
      .meta({ examples: ['07:00'] }),
    timezone: text(64)
      .refine(isTimezone, 'must be an IANA time zone like Europe/Berlin')
      .default('UTC')
      .describe('An IANA time zone. Default UTC.'),
    days: list(oneOf('day', WEEKDAYS), 1, WEEKDAYS.length)
      .nullable()
      .default(null)
      .describe('The days on which they begin. Default null: every day.'),
  }).refine((hours) => !isEndless(hours), 'must leave some time in which alerts are sent');

const address = () => {
  const right = says('must be an e-mail address like oncall@example.com');
  return z.string(right).refine(isMailAddress, right);
};

/** Body of `PUT /v1/alerts/routes/{name}`. */
export const AlertRouteBody = closed({
  channel: oneOf('channel', ALERT_CHANNELS).describe('How messages are sent.'),
  to: list(address(), 1, RECIPIENTS_MAX)
    .optional()
    .describe('E-mail addresses; only for the channel email, which needs them.'),
  url: text(WEBHOOK_URL_MAX)
    .optional()
    .describe(
      'URL of the incoming webhook of a chat: stored, never shown. Without it a chat keeps its URL.',
    ),
  rules: list(oneOf('rule', ALERT_RULE_NAMES), 1, ALERT_RULE_NAMES.length)
    .nullable()
    .optional()
    .describe('Only alerts of these rules. Default null: all.'),
  owners: list(text(200), 1, FILTER_MAX)
    .nullable()
    .optional()
    .describe('Only alerts about definitions of these owners. Default null: all.'),
  definitionKeys: list(definitionKey(), 1, FILTER_MAX)
    .nullable()
    .optional()
    .describe('Only alerts about these definitions. Default null: all.'),
  quietHours: quietHours()
    .nullable()
    .optional()
    .describe('When only critical alerts are sent. The rest follows as one summary.'),
  groupSeconds: whole(0, GROUP_SECONDS_MAX)
    .default(GROUP_SECONDS_DEFAULT)
    .describe(
      'Alerts of one rule that fire within this time are one message. ' +
        `Default ${GROUP_SECONDS_DEFAULT}.`,
    ),
  enabled: flag().default(true).describe('Whether it sends. Default true.'),
});

/** Query of `GET /v1/alerts/routes/{name}/messages`. */
export const AlertMessageQuery = closed({
  cursor: text(200).optional().describe('The nextCursor of the previous page.'),
  limit: wholeInQuery(1, PAGE_MAX)
    .default(PAGE_DEFAULT)
    .describe(`Page size. Default ${PAGE_DEFAULT}.`),
});

const QuietHoursAnswer = z.looseObject({
  from: z.string(),
  to: z.string(),
  timezone: z.string(),
  days: z.array(z.enum(WEEKDAYS)).nullable(),
});

export const AlertRouteAnswer = z
  .looseObject({
    name: z.string(),
    tenant: z.string(),
    channel: z.enum(ALERT_CHANNELS),
    to: z.array(z.string()).describe('E-mail addresses; empty for a chat.'),
    urlHost: z.string().nullable().describe("Host of the chat's URL, which is not shown."),
    rules: z.array(z.enum(ALERT_RULE_NAMES)).nullable().describe('Null: all rules.'),
    owners: z.array(z.string()).nullable().describe('Null: all owners.'),
    definitionKeys: z.array(z.string()).nullable().describe('Null: all definitions.'),
    quietHours: QuietHoursAnswer.nullable(),
    groupSeconds: z.int(),
    enabled: z.boolean(),
    createdAt: Moment,
    updatedAt: Moment,
  })
  .meta({
    id: 'AlertRoute',
    description: 'Where alerts are sent, and which ones.',
  }) satisfies z.ZodType<AlertRouteView>;

export const SavedRouteAnswer = AlertRouteAnswer.extend({
  warnings: z.array(z.string()).describe('Why nothing may arrive, in words.'),
}).meta({ id: 'SavedAlertRoute', description: 'A saved route, and what it lacks.' });

export const AlertRoutesAnswer = z.looseObject({ routes: z.array(AlertRouteAnswer) });

const AlertMessageAnswer = z
  .looseObject({
    id: z.string().describe('The id of the job that sends it.'),
    route: z.string(),
    kind: z.enum(MESSAGE_KINDS).describe('A summary has what quiet hours held back.'),
    subject: z.string(),
    text: z.string().describe('The text, without links to the dashboard.'),
    status: z.enum(DELIVERY_STATUSES),
    attempts: z.array(SendAnswer),
    createdAt: Moment,
    nextAttemptAt: Moment.nullable(),
    finishedAt: Moment.nullable(),
  })
  .meta({
    id: 'AlertMessage',
    description: 'A message about alerts and its sends.',
  }) satisfies z.ZodType<AlertMessageView>;

export const AlertMessagePageAnswer = z.looseObject({
  messages: z.array(AlertMessageAnswer),
  nextCursor: z.string().nullable().describe('Cursor of the next page; null at the end.'),
});

export const AlertMessageMadeAnswer = z.looseObject({
  messageId: z.string().describe('The id of the message.'),
});
