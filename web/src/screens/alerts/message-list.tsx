import { useQuery } from '@tanstack/react-query';
import type { AlertMessageView } from '../../../../src/core/alert/route.ts';
import { alertMessagesQuery } from '../../api/signal-queries.ts';
import { Moment } from '../../parts/moment.tsx';
import { Waiting } from '../../parts/screen.tsx';
import { sendReason, sendWords } from '../../words/alerts/send-words.ts';
import { plainText } from '../../words/jobs/log-tail.ts';

const TONES = { pending: 'busy', retrying: 'warn', delivered: 'good', failed: 'bad' } as const;

/** The newest messages of a route, and what their receivers answered. */
export function MessageList({ route }: { route: string }) {
  const { data: page, error } = useQuery(alertMessagesQuery(route));
  if (page === undefined) return <Waiting error={error} />;
  if (page.messages.length === 0) return <p className="soft">No messages so far.</p>;
  return (
    <ul className="deliveries">
      {page.messages.map((message) => (
        <li key={message.id}>
          <Message message={message} />
        </li>
      ))}
    </ul>
  );
}

function Message({ message }: { message: AlertMessageView }) {
  const { status, subject, text, attempts, createdAt, nextAttemptAt } = message;
  const reason = status === 'delivered' ? null : sendReason(attempts);
  return (
    <details>
      <summary>
        <span className={`badge tone-${TONES[status]}`}>{status}</span>{' '}
        <strong>{plainText(subject)}</strong> <Moment at={createdAt} />
        {reason !== null && <span className="wrong"> {plainText(reason)}</span>}
      </summary>
      <div className="delivery">
        <pre>{plainText(text)}</pre>
        {nextAttemptAt !== null && (
          <p>
            Next try <Moment at={nextAttemptAt} />.
          </p>
        )}
        {attempts.map(({ at, status: code, error, responseBody }, n) => (
          <p key={n}>
            Attempt {n + 1}, <Moment at={at} />:{' '}
            {plainText(sendWords({ status: code, error, responseBody }))}
          </p>
        ))}
      </div>
    </details>
  );
}
