import type { UidRange } from '../core/access/machine-users.ts';
import type { RunDueBudget, RunDueSummary } from '../core/queue/run-due.ts';
import type { SettingView } from '../core/views/setting-view.ts';
import type { Log } from '../runtime/log.ts';
import type { Db } from '../store/connection/db.ts';
import type { ServedDeployment } from '../store/deployments/served.ts';
import type { Deployer } from '../deployments/deployer.ts';
import type { Uploads } from '../deployments/uploads.ts';
import type { Enqueuer } from '../enqueue/enqueuer.ts';
import type { Quotas } from '../enqueue/quotas.ts';
import type {
  BeatReply,
  BeatRequest,
  RegisterReply,
  RegisterRequest,
  SayRequest,
  SpawnReply,
  SpawnRequestBody,
  TurnReply,
  TurnRequest,
} from '../protocol/worker-protocol.ts';
import type { LargeValues } from '../large/large-values.ts';
import type { StoredReports } from '../reports/stored-reports.ts';
import type { SignIn } from '../identity/sign-in.ts';
import type { RequestLimits } from './edge/rate-limits.ts';
import type { StreamLimits } from './streams/streams.ts';

/** The key of a call by a worker over HTTP. */
export interface WorkerKey {
  tenant: string;
  keyId: string;
  /** The definitions that it may serve; null means all. */
  patterns: readonly string[] | null;
  address: string;
}

/** Serves workers over HTTP; `controller/controller.ts` implements it. */
export interface RemoteWorkersPort {
  register(key: WorkerKey, instance: string, request: RegisterRequest): Promise<RegisterReply>;
  /** `undeliver` returns the jobs when the answer could not be sent. */
  turn(
    key: WorkerKey,
    instance: string,
    request: TurnRequest,
    signal: AbortSignal,
  ): Promise<{ reply: TurnReply; undeliver(): Promise<void> }>;
  beat(key: WorkerKey, instance: string, request: BeatRequest): Promise<BeatReply>;
  say(key: WorkerKey, instance: string, request: SayRequest): Promise<{ stale: string[] }>;
  spawn(key: WorkerKey, instance: string, request: SpawnRequestBody): Promise<SpawnReply>;
  retire(key: WorkerKey, instance: string): Promise<void>;
  /** The deployments that this worker may serve now. */
  deployments(key: WorkerKey, instance: string): Promise<ServedDeployment[]>;
  /** Ends all waits, before the server stops. */
  release(): void;
}

/** Dependencies of the HTTP server; `app.ts` provides them, tests provide their own. */
export interface HttpDeps {
  db: Db;
  enqueuer: Enqueuer;
  log: Log;
  host: string;
  port: number;
  /** User ids of job processes on this machine. */
  runnerUids?: readonly UidRange[];
  version: string;
  /** Settings to show to administrators. */
  settings?: readonly SettingView[];
  /** Name and colour of this installation, for the dashboard. */
  environment?: { name: string; color: string } | null;
  /** More accepted Host names, `*` for any. */
  allowedHosts?: readonly string[];
  /** Networks of proxies whose X-Forwarded-For is trusted. */
  trustedProxies?: readonly string[];
  /** Maximum number of connections; default by the limit of open files. */
  connectionsMax?: number;
  /** Maximum number of bytes of large bodies in memory. */
  bodyRoomBytes?: number;
  /** Timeout for request headers. */
  headersTimeoutMs?: number;
  /** Timeout for request bodies, except uploads. */
  bodyTimeoutMs?: number;
  /** Non-public networks that webhooks may reach. */
  webhookAllow?: readonly string[];
  /** Whether this server has a mail server; undefined: not known. */
  hasMail?: boolean;
  /** Names of message brokers that webhooks may publish to. */
  webhookBrokers?: readonly string[];
  /** Rate limits; none by default. */
  limits?: RequestLimits;
  /** Quotas per tenant; none by default. The enqueuer has its own. */
  quotas?: Quotas;
  /** Age at which a queued job without a worker gets a warning. */
  unservedAfterMs?: number;
  /** Runs due jobs within a budget; absent in a process without a worker. */
  runDue?: (
    budget: RunDueBudget,
    caller: { tenant: string; signal: AbortSignal },
  ) => Promise<RunDueSummary>;
  /** Serves workers over HTTP. */
  remoteWorkers?: RemoteWorkersPort;
  /** Connections that identify workers over HTTP; ordinary requests do not use them. */
  reserved?: Db;
  /** Creates deployments; absent in tests without them. */
  deployer?: Deployer;
  /** Stores uploaded archives. */
  uploads?: Uploads;
  /** Sign-in through an identity provider; absent when none is configured. */
  signIn?: SignIn;
  /** Address of the server for links; by default that of the request. */
  publicUrl?: string | null;
  /** Large params and results; absent in tests without them. */
  large?: LargeValues;
  /** Reports of jobs; absent where the server does not know their storage. */
  reports?: StoredReports;
  /** Whether tenants may deploy code of their own. */
  tenantDeploys?: boolean;
  /** Why this server is not ready, for `/readyz`; null if it is. */
  notReady?: () => string | null;
  /** Finds or builds the files of the dashboard; absent if there is none. */
  dashboard?: () => Promise<string>;
  /** Overrides of stream limits, for tests. */
  streams?: Partial<StreamLimits>;
}
