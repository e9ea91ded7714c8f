/** The JSON that a provider answered; empty when it is none. */
export function answerOf(text: string | null): Record<string, unknown> {
  try {
    return JSON.parse(text ?? '') as Record<string, unknown>;
  } catch {
    return {};
  }
}

/** Adds what the provider says about it. */
export function withReason(failure: Error, reason: unknown): Error {
  if (typeof reason === 'string') failure.message += `: ${reason.slice(0, 500)}`;
  return failure;
}
