import type { ReactNode } from 'react';
import type { Scope } from '../../../src/core/access/scope.ts';
import { useMay } from '../api/use-may.ts';

/** What changes something, for callers whose key allows it. */
export function Allowed({
  scope,
  ofHost = false,
  children,
}: {
  scope: Scope;
  /** About all tenants: only for keys of the host tenant. */
  ofHost?: boolean;
  children: ReactNode;
}) {
  return useMay(scope, { ofHost }) ? children : null;
}
