import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { duration } from '../../../../src/core/values/duration.ts';
import type { DeliveryView, Send } from '../../../../src/core/webhook/webhook.ts';
import { deliveriesQuery } from '../../api/admin-queries.ts';
import { call } from '../../api/call.ts';
import { useChange } from '../../api/use-change.ts';
import { JsonTree } from '../../parts/json-tree.tsx';
import { Moment } from '../../parts/moment.tsx';
import { Pages } from '../../parts/pages.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Waiting } from '../../parts/screen.tsx';
import { jobWords } from '../../words/alerts/delivery-words.ts';
import { plainText } from '../../words/jobs/log-tail.ts';

const TONES = { pending: 'busy', retrying: 'warn', delivered: 'good', failed: 'bad' } as const;

/** Deliveries with requests, responses and pending retries. */
export function DeliveryList({
  webhookId,
  cursor,
}: {
  webhookId: string;
  cursor: string | undefined;
}) {
  const { data: page, error } = useQuery(deliveriesQuery(webhookId, cursor));
  return (
    <>
      <Panel
        title="Deliveries"
        aside={page && <SendMany webhookId={webhookId} deliveries={page.deliveries} />}
      >
        {page === undefined ? (
          <Waiting error={error} />
        ) : page.deliveries.length === 0 ? (
          <p className="soft">No deliveries so far.</p>
        ) : (
          <ul className="deliveries">
            {page.deliveries.map((delivery) => (
              <Delivery key={delivery.id} delivery={delivery} />
            ))}
          </ul>
        )}
      </Panel>
      {page && (
        <Pages
          to="/webhooks/$webhookId"
          params={{ webhookId }}
          search={{ cursor }}
          nextCursor={page.nextCursor}
        />
      )}
    </>
  );
}

/** Sends the waiting deliveries of this page now, and the failed ones again. */
function SendMany({
  webhookId,
  deliveries,
}: {
  webhookId: string;
  deliveries: readonly DeliveryView[];
}) {
  const sent = deliveries.filter(({ attempts }) => attempts.length > 0);
  const failed = sent.filter(({ status }) => status === 'failed');
  const waiting = sent.filter(({ status }) => status === 'retrying');
  const send = useChange(
    async (chosen: readonly DeliveryView[]) => {
      for (const { id } of chosen) {
        await call<object>('POST', `/v1/webhooks/${webhookId}/deliveries/${id}/redeliver`);
      }
      return chosen.length;
    },
    (count) => `${count === 1 ? '1 delivery' : `${count} deliveries`} queued again.`,
  );
  const button = (text: string, chosen: readonly DeliveryView[]) => (
    <button
      type="button"
      className="small"
      disabled={send.isPending}
      onClick={() => send.mutate(chosen)}
    >
      {text}
    </button>
  );
  if (failed.length + waiting.length === 0) return <>newest first</>;
  return (
    <>
      {waiting.length > 0 && button(`Send the ${waiting.length} waiting of this page now`, waiting)}{' '}
      {failed.length > 0 && button(`Send the ${failed.length} failed of this page again`, failed)}
    </>
  );
}

function Delivery({ delivery }: { delivery: DeliveryView }) {
  const { id, webhookId, event, jobId, status, request, attempts, createdAt, nextAttemptAt } =
    delivery;
  const { redeliveryOf } = delivery;
  const job = jobWords(delivery);
  const last = attempts.at(-1);
  const again = useChange(
    async () => await call<object>('POST', `/v1/webhooks/${webhookId}/deliveries/${id}/redeliver`),
    () => 'Delivery queued again.',
  );
  return (
    <li>
      <details>
        <summary>
          <span className={`badge tone-${TONES[status]}`}>{status}</span> <strong>{event}</strong>{' '}
          {job !== null && <>{job} </>}
          {redeliveryOf !== null && <span className="badge">sent again</span>}{' '}
          <Moment at={createdAt} />{' '}
          <span className="soft">
            {attempts.length} {attempts.length === 1 ? 'attempt' : 'attempts'}
            {last && `, ${answerWords(last)}`}
            {nextAttemptAt !== null && (
              <>
                , next try <Moment at={nextAttemptAt} />
              </>
            )}
          </span>
        </summary>
        <div className="delivery">
          {jobId !== null && (
            <p>
              About{' '}
              <Link to="/jobs/$jobId" params={{ jobId }}>
                {job}
              </Link>
              .
            </p>
          )}
          {attempts.length > 0 && (
            <button type="button" className="small" onClick={() => again.mutate(undefined)}>
              {status === 'retrying' ? 'Send now' : 'Send again'}
            </button>
          )}
          {attempts.map((send, at) => (
            <Answer key={at} send={send} number={at + 1} />
          ))}
          {request !== null && (
            <>
              <h3>Request</h3>
              <JsonTree value={request} />
            </>
          )}
        </div>
      </details>
    </li>
  );
}

function answerWords({ status, error }: Send): string {
  return status === null ? plainText(error ?? 'no response') : `status ${status}`;
}

function Answer({ send, number }: { send: Send; number: number }) {
  const { responseBody, responseTruncated, durationMs, at } = send;
  return (
    <>
      <h3>
        Attempt {number}: {answerWords(send)} after {duration(durationMs)}, <Moment at={at} />
      </h3>
      {responseBody !== null && responseBody !== '' && (
        <pre>
          {plainText(responseBody)}
          {responseTruncated ? '…' : ''}
        </pre>
      )}
    </>
  );
}
