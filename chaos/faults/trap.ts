import type { Link } from '../world/link.ts';

/** How long to wait for a request of the right kind. */
const PATIENCE_MS = 3_000;

/** Lays a trap on a link, and answers with what went into it; null when nothing came by. */
export async function sprung(
  link: Link,
  arm: (onSprung: (statement: string) => void) => void,
): Promise<string | null> {
  return await new Promise((resolve) => {
    const patience = setTimeout(() => {
      link.disarm();
      resolve(null);
    }, PATIENCE_MS);
    arm((statement) => {
      clearTimeout(patience);
      resolve(statement);
    });
  });
}
