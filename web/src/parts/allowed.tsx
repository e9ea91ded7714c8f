import type { ReactNode } from 'react';
import type { Scope } from '../../../src/core/access/scope.ts';
import { useMay } from '../api/use-may.ts';

/** Renders its children only if the session has the scope. */
export function Allowed({
  scope,
  ofDefaultTenant = false,
  children,
}: {
  scope: Scope;
  /** Requires a key of the default tenant. */
  ofDefaultTenant?: boolean;
  children: ReactNode;
}) {
  return useMay(scope, { ofDefaultTenant }) ? children : null;
}
