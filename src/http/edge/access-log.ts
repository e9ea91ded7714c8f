import type { FastifyInstance } from 'fastify';
import type { Log } from '../../runtime/log.ts';
import { pathOf } from '../problem.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Not in the access log, because probes call it every few seconds. */
    quiet?: boolean;
  }
}

/** One line per request at debug level; in production use the metrics. */
export function logAccess(app: FastifyInstance, log: Log): void {
  app.addHook('onResponse', (request, reply, done) => {
    if (log.isLevelEnabled('debug') && !request.routeOptions.config.quiet) {
      const { method } = request;
      const path = pathOf(request.url);
      const durationMs = Math.round(reply.elapsedTime * 10) / 10;
      log.debug({ method, path, status: reply.statusCode, durationMs }, 'request');
    }
    done();
  });
}
