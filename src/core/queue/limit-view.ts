import type { Limits, LimitsOverride } from './limits.ts';

/** A pause as shown by the API, the SDK and the CLI. */
export interface PauseView {
  scope: 'all' | 'tenant' | 'definition';
  /** The tenant or the definition; null when everything is paused. */
  name: string | null;
  /** The actor, as in the audit log; null for callers who may not see it. */
  by: string | null;
  reason: string | null;
  since: string;
}

/** The limits of a definition and where they come from. */
export interface DefinitionLimitsView {
  /** The limits in effect. */
  effective: Limits;
  /** The limits in the code of the highest published version. */
  code: Limits;
  /** The override of an operator; 0 means "no limit". */
  override: LimitsOverride;
  changedBy: string | null;
  changedAt: string | null;
  /** Running jobs that count. Null for keys of tenants other than the default one. */
  inUse: number | null;
}
