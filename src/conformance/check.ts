export interface Named {
  /** Its number among the rules for a worker, or those for a server. */
  rule: number;
  check: string;
}

/** One checked rule of docs/operate/remote-workers.md. */
export interface Finding extends Named {
  status: 'ok' | 'failed' | 'skipped';
  /** What was expected and what came, or why it was skipped. */
  detail: string | null;
}

export interface Check<Stage> extends Named {
  /** Throws `Unmet` when the rule is broken, `Skipped` when it cannot be checked here. */
  play(stage: Stage): Promise<void>;
}

/** The other side did not do what the rule says. */
export class Unmet extends Error {
  constructor(expected: string, came: string) {
    super(`expected ${expected}; came ${came}`);
  }
}

export class Skipped extends Error {}

/** Plays one check. Errors of the other side, such as a closed connection, break the rule too. */
export async function playOne<Stage>(
  { rule, check, play }: Check<Stage>,
  stage: Stage,
): Promise<Finding> {
  const found = { rule, check };
  try {
    await play(stage);
    return { ...found, status: 'ok', detail: null };
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    return { ...found, status: error instanceof Skipped ? 'skipped' : 'failed', detail };
  }
}

export function expectThat(holds: boolean, expected: string, came: unknown): asserts holds {
  if (!holds) throw new Unmet(expected, typeof came === 'string' ? came : JSON.stringify(came));
}
