import type { Limits, LimitsOverride } from './limits.ts';

/** A pause as it can be looked at. One shape for the API, the SDK and the CLI. */
export interface PauseView {
  scope: 'all' | 'tenant' | 'definition';
  /** Of the tenant or the definition; null when everything is paused. */
  name: string | null;
  /** Who paused it, as the audit log names people; null for those whom it does not concern. */
  by: string | null;
  reason: string | null;
  since: string;
}

/** What a definition may use, and why. */
export interface DefinitionLimitsView {
  /** What holds now. */
  effective: Limits;
  /** What the code of the highest published version says. */
  code: Limits;
  /** What a person said instead; 0 means "no limit". */
  override: LimitsOverride;
  changedBy: string | null;
  changedAt: string | null;
  /** How many run and are counted. Null for keys of other tenants than the default one. */
  inUse: number | null;
}
