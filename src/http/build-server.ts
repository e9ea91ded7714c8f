import { fastify, type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import { systemClock } from '../runtime/clock.ts';
import { demandAccess } from './access/access.ts';
import { logAccess } from './edge/access-log.ts';
import { BodyRoom, limitBodies } from './edge/body-room.ts';
import { answerBrokenRequest } from './edge/broken-request.ts';
import { Callers } from './access/callers.ts';
import { TrustedProxies } from './edge/client-address.ts';
import { connectionsMax, limitConnections } from './edge/connections.ts';
import type { HttpDeps } from './deps.ts';
import { intentRoutes } from './dialects/intents.ts';
import { jobberRoutes } from './dialects/jobber.ts';
import { runDueRoutes } from './dialects/run-due.ts';
import { runnerJobsRoutes } from './dialects/runner-jobs.ts';
import { allowedHosts, guardHost, guardOrigin } from './access/guards.ts';
import { readJsonOnly } from './edge/json-body.ts';
import { closeOtherMethods, knowAllMethods, rememberRoutes } from './edge/methods.ts';
import { describeApi } from './openapi.ts';
import { errorHandler, noSuchPath, sendProblem } from './problem.ts';
import { checkQueries } from './edge/query-check.ts';
import { NO_LIMITS, RateLimits } from './edge/rate-limits.ts';
import { Redaction } from './access/redaction.ts';
import { refuseRepeatedHeaders } from './edge/repeated-headers.ts';
import { SignInCounts } from '../metrics/sign-in-counts.ts';
import { alertRoutesRoutes } from './routes/alerts/alert-routes.ts';
import { budgetsRoutes } from './routes/usage/budgets.ts';
import { usageRoutes } from './routes/usage/usage.ts';
import { alertsRoutes } from './routes/alerts/alerts.ts';
import { auditRoutes } from './routes/audit.ts';
import { bulkRoutes } from './routes/bulk.ts';
import { changeJobRoutes } from './routes/change-job.ts';
import { changeSchedulesRoutes } from './routes/change-schedules.ts';
import { dashboardRoutes } from './routes/dashboard.ts';
import { deadLetterRoutes } from './routes/dead-letters.ts';
import { definitionsRoutes } from './routes/definitions.ts';
import { artifactsRoutes } from './routes/deployments/artifacts.ts';
import { deploymentsRoutes } from './routes/deployments/deployments.ts';
import { docsRoutes } from './routes/docs.ts';
import { keysRoutes } from './routes/keys.ts';
import { metricsRoutes } from './routes/metrics.ts';
import { remoteCodeRoutes } from './routes/workers/remote-code.ts';
import { remoteWorkersRoutes } from './routes/workers/remote-workers.ts';
import { pausesRoutes } from './routes/pauses.ts';
import { probeRoutes } from './routes/probes.ts';
import { readJobsRoutes } from './routes/read-jobs.ts';
import { batchRoutes } from './routes/batches/batches.ts';
import { jobOutcomesRoutes } from './routes/related/job-outcomes.ts';
import { relatedJobsRoutes } from './routes/related/related-jobs.ts';
import { jobValueRoutes } from './routes/files/job-values.ts';
import { logDownloadRoutes } from './routes/files/log-download.ts';
import { definitionLogsRoutes } from './routes/logs/definition-logs.ts';
import { historyRoutes } from './routes/read-history.ts';
import { reportsRoutes } from './routes/files/reports.ts';
import { linkPageRoutes } from './routes/links/link-page.ts';
import { signalLinksRoutes } from './routes/links/signal-links.ts';
import { exportRoutes } from './routes/search/export-jobs.ts';
import { viewsRoutes } from './routes/search/views.ts';
import { schedulesRoutes } from './routes/schedules.ts';
import { sessionRoutes } from './routes/sessions/session.ts';
import { sessionsRoutes } from './routes/sessions/sessions.ts';
import { signInRoutes } from './routes/sessions/sign-in.ts';
import { secretsRoutes } from './routes/secrets.ts';
import { settingsRoutes } from './routes/settings.ts';
import { startJobRoutes } from './routes/start-job.ts';
import { scaleRoutes } from './routes/workers/scale.ts';
import { seriesRoutes } from './routes/counters/series.ts';
import { shardsRoutes } from './routes/counters/shards.ts';
import { statsRoutes } from './routes/counters/stats.ts';
import { streamRoutes } from './routes/stream.ts';
import { tenantsRoutes } from './routes/tenants.ts';
import { webhookDeliveriesRoutes } from './routes/webhook-deliveries.ts';
import { webhooksRoutes } from './routes/webhooks.ts';
import { workersRoutes } from './routes/workers/workers.ts';
import { SearchSlots } from './edge/search-slots.ts';
import { limitBodyTime, UPLOAD_TIMEOUT_MS } from './edge/slow-bodies.ts';
import { setSecurityHeaders } from './edge/security-headers.ts';
import { BODY_MAX_BYTES } from './start.ts';
import { STREAM_LIMITS, Streams } from './streams/streams.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** All routes; a test compares the docs with them. */
    routeTable: ReadonlyMap<string, ReadonlySet<string>>;
  }
}

/**
 * The server without its socket, so that tests can `inject`. The signal aborts when the process
 * starts to drain; probes then report it, so that load balancers switch.
 */
export function buildServer(
  deps: HttpDeps,
  leaving: AbortSignal = new AbortController().signal,
): FastifyInstance {
  const app = bareServer(deps);
  const limits = new RateLimits(deps.limits ?? NO_LIMITS, systemClock);
  const hosts = allowedHosts(deps.host, deps.allowedHosts ?? []);
  const proxies = new TrustedProxies(deps.trustedProxies);
  limitConnections(app.server, deps.connectionsMax ?? connectionsMax());
  app.decorateRequest('clientAddress', '');

  app.addHook('onRequest', (request, reply, done) => {
    setSecurityHeaders(reply);
    request.clientAddress = proxies.clientOf(request);
    refuseRepeatedHeaders(request);
    guardHost(request, hosts);
    limits.ofAddress(request, reply);
    guardOrigin(request);
    // Before the body is read: an unknown path is a 404 whatever the body.
    if (request.is404 || namesNothing(request.params)) throw noSuchPath();
    done();
  });
  logAccess(app, deps.log);
  readJsonOnly(app);
  checkQueries(app);
  const callers = new Callers(deps, systemClock, limits);
  demandAccess(app, callers);
  limitBodies(app, new BodyRoom(deps.bodyRoomBytes));
  limitBodyTime(app, deps.bodyTimeoutMs);
  knowAllMethods(app);
  const table = rememberRoutes(app);
  app.decorate('routeTable', table);
  describeApi(app, deps.version);
  const redaction = new Redaction(deps.db, systemClock);
  const searches = new SearchSlots();
  const signIns = new SignInCounts();
  const streams = new Streams({ ...STREAM_LIMITS, ...deps.streams }, deps.log);
  // Closing waits for all responses, and streams do not end by themselves.
  app.addHook('preClose', async () => {
    streams.close();
    deps.remoteWorkers?.release();
  });
  app.register(async (scope) => {
    startJobRoutes(scope, deps);
    readJobsRoutes(scope, deps, redaction, searches);
    relatedJobsRoutes(scope, deps);
    jobOutcomesRoutes(scope, deps, redaction);
    batchRoutes(scope, deps);
    exportRoutes(scope, deps, redaction, searches, leaving);
    viewsRoutes(scope, deps);
    historyRoutes(scope, deps, streams, redaction);
    logDownloadRoutes(scope, deps, redaction);
    jobValueRoutes(scope, deps, redaction);
    definitionLogsRoutes(scope, deps, streams, redaction);
    changeJobRoutes(scope, deps);
    signalLinksRoutes(scope, deps);
    linkPageRoutes(scope, deps, limits);
    deadLetterRoutes(scope, deps, redaction, searches);
    bulkRoutes(scope, deps, redaction);
    schedulesRoutes(scope, deps, redaction);
    changeSchedulesRoutes(scope, deps, redaction);
    definitionsRoutes(scope, deps);
    pausesRoutes(scope, deps);
    workersRoutes(scope, deps);
    remoteWorkersRoutes(scope, deps);
    remoteCodeRoutes(scope, deps);
    statsRoutes(scope, deps);
    seriesRoutes(scope, deps);
    usageRoutes(scope, deps);
    budgetsRoutes(scope, deps);
    scaleRoutes(scope, deps);
    shardsRoutes(scope, deps);
    streamRoutes(scope, deps, streams);
    metricsRoutes(scope, deps, signIns);
    intentRoutes(scope, deps);
    jobberRoutes(scope, deps);
    runnerJobsRoutes(scope, deps, redaction);
    runDueRoutes(scope, deps, leaving);
    webhooksRoutes(scope, deps);
    webhookDeliveriesRoutes(scope, deps);
    alertsRoutes(scope, deps);
    alertRoutesRoutes(scope, deps);
    keysRoutes(scope, deps);
    tenantsRoutes(scope, deps);
    secretsRoutes(scope, deps);
    deploymentsRoutes(scope, deps);
    artifactsRoutes(scope, deps);
    reportsRoutes(scope, deps);
    sessionRoutes(scope, deps, callers, signIns);
    sessionsRoutes(scope, deps, callers);
    signInRoutes(scope, deps, callers, signIns);
    auditRoutes(scope, deps, searches);
    settingsRoutes(scope, deps);
    probeRoutes(scope, deps, leaving);
    docsRoutes(scope);
    dashboardRoutes(scope, deps);
    closeOtherMethods(scope, table);
  });
  return app;
}

const HEADERS_TIMEOUT_MS = 15_000;

/** PostgreSQL text cannot contain NUL, so no stored name does. */
function namesNothing(params: unknown): boolean {
  return Object.values(params as Record<string, string>).some((name) => name.includes('\u0000'));
}

/** Fastify makes a child for each request, which nothing here uses. */
function childless(log: FastifyBaseLogger): FastifyBaseLogger {
  const logger = Object.create(log) as FastifyBaseLogger;
  logger.child = () => logger;
  return logger;
}

function bareServer({ log, headersTimeoutMs = HEADERS_TIMEOUT_MS }: HttpDeps): FastifyInstance {
  const onError = errorHandler(log);
  const app = fastify({
    loggerInstance: childless(log),
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: false,
    bodyLimit: BODY_MAX_BYTES,
    // `core/job/params.ts` refuses `__proto__` with a pointer; the parser must let it through to there.
    onProtoPoisoning: 'ignore',
    onConstructorPoisoning: 'ignore',
    requestTimeout: UPLOAD_TIMEOUT_MS,
    connectionTimeout: 60_000,
    // Longer than the usual 60 s of load balancers, so that they close the connection first.
    keepAliveTimeout: 65_000,
    // A request without Host gets our own error instead of a bare 400.
    http: {
      requireHostHeader: false,
      headersTimeout: headersTimeoutMs,
      // How often slow clients are checked; Node's default is 30 s.
      connectionsCheckingInterval: Math.min(1_000, headersTimeoutMs),
    },
    // Requests on open connections are still answered while closing.
    return503OnClosing: false,
    routerOptions: { maxParamLength: 200 },
    frameworkErrors: onError,
    clientErrorHandler: answerBrokenRequest,
  });
  app.setErrorHandler(onError);
  app.setNotFoundHandler((_request, reply) => sendProblem(reply, noSuchPath()));
  return app;
}
