import { SIGN_IN_FAILURES, type SignInFailure } from '../core/identity/sign-in-error.ts';
import { counter, type Family } from './family.ts';

type Method = 'key' | 'sso';
type Outcome = 'ok' | 'wrong-key' | SignInFailure;

const OUTCOMES: Record<Method, readonly Outcome[]> = {
  key: ['ok', 'wrong-key'],
  sso: ['ok', ...(Object.keys(SIGN_IN_FAILURES) as SignInFailure[])],
};

/** Sign-ins of browsers at this process. */
export class SignInCounts {
  readonly #counts = new Map<string, number>();

  count(method: Method, outcome: Outcome): void {
    const name = `${method} ${outcome}`;
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  /** Outcomes that did not happen yet are 0, so that Prometheus sees the first one. */
  families(): Family[] {
    const samples = (['key', 'sso'] as const).flatMap((method) =>
      OUTCOMES[method].map((outcome) => ({
        labels: { method, outcome },
        value: this.#counts.get(`${method} ${outcome}`) ?? 0,
      })),
    );
    const help = 'Sign-ins of browsers at this process, by method and outcome.';
    return [counter('longshore_sign_ins_total', help, samples)];
  }
}
