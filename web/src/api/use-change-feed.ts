import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { type ChangeView, TOPICS } from '../../../src/core/views/change-feed.ts';
import { apiUrl } from '../runtime/urls.ts';
import { queryText } from './call.ts';
import { connection } from './connection.ts';
import { Refetch } from './refetch.ts';
import { tenantOfStream } from './tenant-routes.ts';
import { useVisible } from './use-visible.ts';

/**
 * Delay before reconnecting when the server refuses the stream, for example because it has too
 * many.
 */
const REFUSED_MS = 10_000;

/**
 * The change feed: one stream for the whole app. The server sends the changed topics, and their
 * queries are refetched. A hidden tab closes the stream and resumes after the last event. Without a
 * stream, queries are polled every few seconds.
 */
export function useChangeFeed(wanted: boolean): void {
  const client = useQueryClient();
  const visible = useVisible();
  const lastId = useRef<string>(undefined);
  const [tries, setTries] = useState(0);

  useEffect(() => {
    if (!visible || !wanted) return undefined;
    const refetch = new Refetch(client);
    const source = new EventSource(
      apiUrl('/v1/stream') + queryText({ cursor: lastId.current, ...tenantOfStream() }),
    );
    let again: ReturnType<typeof setTimeout> | undefined;
    let open = false;
    source.addEventListener('open', () => {
      open = true;
      connection.stream('open');
    });
    source.addEventListener('change', ({ data, lastEventId }: MessageEvent<string>) => {
      lastId.current = lastEventId;
      refetch.changed((JSON.parse(data) as ChangeView).topics);
    });
    source.addEventListener('error', () => {
      connection.stream('broken');
      // Polling was slow because of the stream, so refetch everything once.
      if (open) refetch.changed(TOPICS);
      open = false;
      if (source.readyState !== EventSource.CLOSED) return;
      again = setTimeout(() => setTries((before) => before + 1), REFUSED_MS);
    });
    return () => {
      clearTimeout(again);
      source.close();
      connection.stream('none');
    };
  }, [client, visible, wanted, tries]);
}
