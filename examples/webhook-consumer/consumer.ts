import { createServer, type Server } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { verifyWebhook, type WebhookPayload } from 'longshore/client';

/**
 * Takes events of Longshore. Each is checked first: who sent it, whether it was changed, how old it is.
 * Events arrive at least once, so what was handled is remembered by its id; in earnest that is a row
 * in a table, written in the transaction of what is done about the event.
 */
export function consumer(
  secret: () => string,
  handle: (event: WebhookPayload) => Promise<void> | void,
): Server {
  const handled = new Set<string>();
  return createServer((request, response) => {
    void (async () => {
      // As it came: a body that a framework has parsed and written again has another signature.
      const body = await buffer(request);
      let event: WebhookPayload;
      try {
        event = verifyWebhook(body, request.headers, secret());
      } catch {
        return response.writeHead(401).end();
      }
      const id = String(request.headers['webhook-id']);
      if (!handled.has(id)) await handle(event);
      handled.add(id);
      // Anything but 2xx, and it is sent again later.
      return response.writeHead(204).end();
    })().catch(() => response.writeHead(500).end());
  });
}
