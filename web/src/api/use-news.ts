import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { type ChangeView, TOPICS } from '../../../src/core/views/change-feed.ts';
import { apiUrl } from '../runtime/place.ts';
import { queryText } from './call.ts';
import { connection } from './connection.ts';
import { Renewal } from './renewal.ts';
import { useVisible } from './use-visible.ts';

/** A server that refuses, as one that has too many readers does, is asked again after this. */
const REFUSED_MS = 10_000;

/**
 * The one stream of the whole app: the server says what has changed, and what is shown of it is asked
 * for again. A tab that nobody looks at gives its connection back, and goes on after the last change
 * that it heard of. While there is no stream, everything is asked for every few seconds instead.
 */
export function useChangeFeed(wanted: boolean): void {
  const client = useQueryClient();
  const visible = useVisible();
  const lastId = useRef<string>(undefined);
  const [tries, setTries] = useState(0);

  useEffect(() => {
    if (!visible || !wanted) return undefined;
    const renewal = new Renewal(client);
    const source = new EventSource(apiUrl('/v1/stream') + queryText({ cursor: lastId.current }));
    let again: ReturnType<typeof setTimeout> | undefined;
    let open = false;
    source.addEventListener('open', () => {
      open = true;
      connection.stream('open');
    });
    source.addEventListener('change', ({ data, lastEventId }: MessageEvent<string>) => {
      lastId.current = lastEventId;
      renewal.tell((JSON.parse(data) as ChangeView).topics);
    });
    source.addEventListener('error', () => {
      connection.stream('broken');
      // What is asked for seldom because of the stream is to notice that it is gone.
      if (open) renewal.tell(TOPICS);
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
