import { definitionInfo } from '../core/definition/check-definition.ts';
import { type DefinitionInfo, definitionName } from '../core/definition/definition.ts';
import { hasTerminalHooks, hookDefinition } from '../core/definition/hooks.ts';
import { isRecord } from '../core/values/record.ts';
import type { Accepted } from '../worker/claim/work-queue.ts';

/** A registered worker, as its calls see it. */
export interface RemoteWorker {
  instance: string;
  tenant: string;
  keyId: string;
  definitions: readonly DefinitionInfo[];
  /** As registered: a heartbeat that names no lease keeps it. */
  leaseMs: number;
}

/** A claimed job in the hands of a remote worker. */
export interface Delivery extends Accepted {
  shard: number;
}

/** The served definitions with their rules: as published, or the defaults. */
export function servedDefinitions(
  names: readonly string[],
  published: ReadonlyMap<string, DefinitionInfo>,
): DefinitionInfo[] {
  return names.flatMap((name) => {
    const info = published.get(name) ?? defaultsOf(name);
    return hasTerminalHooks(info) ? [info, hookDefinition(info)] : [info];
  });
}

function defaultsOf(name: string): DefinitionInfo {
  const at = name.lastIndexOf('@');
  const policy = { key: name.slice(0, at), version: Number(name.slice(at + 1)) };
  return definitionInfo(policy, { paramsSchema: null });
}

/** The rules that a worker brings, completed by the defaults. */
export function completeRules(rules: unknown): DefinitionInfo | null {
  if (!isRecord(rules)) return null;
  const { key, version } = rules as { key: string; version: number };
  return { ...defaultsOf(definitionName({ key, version })), ...rules };
}
