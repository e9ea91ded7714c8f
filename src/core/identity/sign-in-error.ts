/** Why a sign-in through the identity provider failed; also a label of a metric. */
export const SIGN_IN_FAILURES = {
  stale: 'The sign-in took too long, or began in another browser or at another address.',
  denied: 'The identity provider did not sign you in.',
  invalid: 'The answer of the identity provider failed a check.',
  'no-access': 'Your groups give no access.',
  unavailable: 'The identity provider cannot be reached, or does not work.',
} as const satisfies Record<string, string>;

export type SignInFailure = keyof typeof SIGN_IN_FAILURES;

/** The message is for the user. It has no token, code or secret. */
export class SignInError extends Error {
  override name = 'SignInError';
  readonly reason: SignInFailure;

  constructor(reason: SignInFailure, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
