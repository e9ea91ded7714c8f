import { backlog } from './backlog.ts';
import { blockedBacklog } from './blocked-backlog.ts';
import { bulk } from './bulk.ts';
import { delayed } from './delayed.ts';
import { drain1 } from './drain-1.ts';
import { drain2 } from './drain-2.ts';
import { drainFresh } from './isolation/drain-fresh.ts';
import { drainProcess } from './isolation/drain-process.ts';
import { enqueue1 } from './enqueue-1.ts';
import { enqueue32 } from './enqueue-32.ts';
import { fairness } from './fairness.ts';
import { history } from './history.ts';
import { http } from './http.ts';
import { isolation } from './isolation/isolation.ts';
import { latencyIdle } from './latency-idle.ts';
import { peak } from './peak.ts';
import { schedules } from './schedules.ts';
import { steady500 } from './steady-500.ts';
import { wal } from './wal.ts';
import type { Workload } from './workload.ts';
import { xminHeld } from './xmin-held.ts';

export const WORKLOADS: readonly Workload[] = [
  enqueue1,
  enqueue32,
  bulk,
  drain1,
  drain2,
  drainProcess,
  drainFresh,
  isolation,
  latencyIdle,
  steady500,
  backlog,
  blockedBacklog,
  fairness,
  xminHeld,
  history,
  wal,
  http,
  peak,
  delayed,
  schedules,
];
