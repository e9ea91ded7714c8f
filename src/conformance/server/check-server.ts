import { randomUUID } from 'node:crypto';
import { Longshore } from '../../client/index.ts';
import { type Finding, type Named, playOne } from '../check.ts';
import { Caller } from './caller.ts';
import { NEWS } from './checks/news.ts';
import { REFUSALS } from './checks/refusals.ts';
import { WORK } from './checks/work.ts';
import { Stage } from './stage.ts';

export interface ServerRun {
  url: string;
  apiKey: string | null;
  /** The definition to serve; null: a new one. */
  definition: string | null;
  /** Whether to play a check. */
  picks(check: Named): boolean;
  /** The key may not enqueue: the operator must. */
  onAsk(key: string): void;
  onFinding(finding: Finding): void;
}

/** Plays a worker for a server, and checks that it follows the rules. */
export async function checkServer(run: ServerRun): Promise<Finding[]> {
  const { url, apiKey, onAsk } = run;
  const key = run.definition ?? `conformance.${randomUUID().slice(0, 8)}`;
  const calls = new Caller(url, apiKey);
  const stage = new Stage(calls, new Longshore({ url, apiKey }), key, () => onAsk(key));
  const findings: Finding[] = [];
  try {
    for (const check of [...WORK, ...NEWS, ...REFUSALS].filter(run.picks)) {
      const finding = await playOne(check, stage);
      findings.push(finding);
      run.onFinding(finding);
      // Without a registration, nothing else can be checked.
      if (findings.length === 1 && finding.status === 'failed') break;
      if (finding.status !== 'ok') await stage.reset().catch(() => undefined);
    }
    return findings;
  } finally {
    calls.close();
  }
}
