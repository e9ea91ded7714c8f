import type { ReactNode } from 'react';
import type { Scope } from '../../../src/core/access/scope.ts';
import { useMay } from '../api/use-may.ts';

/** Renders its children only if the session has the scope. */
export function Allowed({
  scope,
  ofHost = false,
  children,
}: {
  scope: Scope;
  /** Requires a key of the host tenant. */
  ofHost?: boolean;
  children: ReactNode;
}) {
  return useMay(scope, { ofHost }) ? children : null;
}
