import { failureOf } from '../guarded-post.ts';
import { secretOf } from '../ready-job.ts';
import type { Channel, Message, Receipt, Sender } from './channel.ts';
import { answerOf, withReason } from './provider-answer.ts';

export interface TwilioOptions {
  /** The environment variables with the account SID and the auth token. */
  account: string;
  token: string;
  /** A number of yours in E.164. */
  from: string;
  baseUrl?: string | undefined;
}

/** SMS by the Messages API of Twilio. */
export function twilio(options: TwilioOptions): Channel {
  const { account, token, from, baseUrl = 'https://api.twilio.com' } = options;
  return {
    addressed: true,
    sampleTo: '+15550100',
    send: async ({ to, subject, text }: Message, { post, signal }: Sender): Promise<Receipt> => {
      const sid = secretOf(account);
      const login = Buffer.from(`${sid}:${secretOf(token)}`).toString('base64');
      const body = subject === null ? text : `${subject}\n${text}`;
      const sent = await post.send(
        {
          url: `${baseUrl}/2010-04-01/Accounts/${encodeURIComponent(sid)}/Messages.json`,
          headers: {
            authorization: `Basic ${login}`,
            'content-type': 'application/x-www-form-urlencoded',
          },
          body: new URLSearchParams({ To: to ?? '', From: from, Body: body }).toString(),
        },
        signal,
      );
      const answer = answerOf(sent.send.responseBody);
      const failure = failureOf(sent);
      if (failure) throw withReason(failure, answer['message']);
      return { sid: String(answer['sid']), status: String(answer['status']) };
    },
  };
}
