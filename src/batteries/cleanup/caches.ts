import { NonRetryable } from '../../core/definition/define.ts';
import { failureOf, type GuardedPost } from '../guarded-post.ts';
import { secretOf } from '../ready-job.ts';

export interface CacheTools {
  post: GuardedPost;
  signal: AbortSignal;
  /** For long work. */
  onProgress(purged: number): void;
}

/** A cache that entries can be removed from: by URL, or by the pattern of keys. */
export interface Cache {
  purge(what: string, tools: CacheTools): Promise<number>;
}

/** A cache that knows the method PURGE, such as Varnish, nginx or Fastly; `what` is a path. */
export function httpCache({ url, token }: { url: string; token?: string }): Cache {
  return {
    purge: async (what, { post, signal }) => {
      const target = new URL(what, url);
      if (!what.startsWith('/') || target.origin !== new URL(url).origin) {
        throw new NonRetryable(`${JSON.stringify(what)} is not a path of ${url}`);
      }
      const headers: Record<string, string> =
        token === undefined ? {} : { authorization: `Bearer ${secretOf(token)}` };
      const sending = { url: target.href, method: 'PURGE', headers, body: '' } as const;
      const sent = await post.send(sending, signal);
      // What is not in the cache needs no purge.
      if (sent.send.status === 404) return 0;
      const failure = failureOf(sent);
      if (failure) throw failure;
      return 1;
    },
  };
}

const SCANNED = 500;

/** Keys of a Redis; `what` is a pattern such as `page:17:*`, below one of the prefixes. */
export function redisCache({ url, prefixes }: { url: string; prefixes: readonly string[] }): Cache {
  return {
    purge: async (what, { signal, onProgress }) => {
      if (!prefixes.some((prefix) => prefix !== '' && what.startsWith(prefix))) {
        const known = prefixes.join(', ');
        throw new NonRetryable(`${JSON.stringify(what)} must begin with one of: ${known}`);
      }
      const { createClient } = await import('redis');
      const client = createClient({ url: secretOf(url), disableOfflineQueue: true });
      client.on('error', () => undefined);
      let purged = 0;
      try {
        await client.connect();
        for await (const keys of client.scanIterator({ MATCH: what, COUNT: SCANNED })) {
          signal.throwIfAborted();
          if (keys.length > 0) purged += await client.unlink(keys);
          onProgress(purged);
        }
        return purged;
      } finally {
        client.destroy();
      }
    },
  };
}
