import { createCell } from '../runtime/cell.ts';

/**
 * Whether the server demands a sign-in. The client learns it from refusals, since a server without
 * keys lets everyone in. The session itself is a cookie, which no script can read.
 */
const demanded = createCell(false);
let signingIn = false;
let signIns = 0;

export const session = {
  demand: demanded.set,
  /** Number of the session that a call is made with. */
  current(): number {
    return signIns;
  },
  /** Handles a 401. A call sent before the latest sign-in says nothing about this session. */
  refused(made: number): void {
    if (!signingIn && made === signIns) session.demand(true);
  },
  /** While `work` signs in, 401s of other calls are ignored. */
  async duringSignIn<T>(work: () => Promise<T>): Promise<T> {
    signingIn = true;
    try {
      const result = await work();
      signIns += 1;
      session.demand(false);
      return result;
    } finally {
      signingIn = false;
    }
  },
};

export const useSignInDemanded = demanded.use;
