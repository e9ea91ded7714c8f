/** The known name closest to a mistyped one, or null when none is close. */
export function nearestName(typed: string, known: readonly string[]): string | null {
  const wanted = typed.toLowerCase();
  let best: string | null = null;
  let bestDistance = Math.max(1, Math.floor(typed.length / 3)) + 1;
  for (const name of known) {
    const distance = editDistance(wanted, name.toLowerCase());
    if (distance < bestDistance) {
      best = name;
      bestDistance = distance;
    }
  }
  return best ?? known.find((name) => isPart(wanted, name.toLowerCase())) ?? null;
}

/** In characters. A longer list does not help. */
const LIST_MAX = 200;

/**
 * `unknown field "prams": did you mean "params"?`. When no name is near, it lists all known names
 * if they are few.
 */
export function unknownName(what: string, typed: string, known: readonly string[]): string {
  const shown = typed.length > 60 ? `${typed.slice(0, 60)}…` : typed;
  const nearest = nearestName(typed.slice(0, 60), known);
  const all = known.join(', ');
  const listed = all === '' || all.length > LIST_MAX ? '' : `: known are ${all}`;
  return `unknown ${what} "${shown}"${nearest ? `: did you mean "${nearest}"?` : listed}`;
}

/** "attempts" for "maxAttempts"; shorter parts match too much. */
function isPart(a: string, b: string): boolean {
  return Math.min(a.length, b.length) >= 4 && (a.includes(b) || b.includes(a));
}

/** Swapped neighbours count as one edit. */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const substitution = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      const deletion = (previous[column] ?? 0) + 1;
      const insertion = (current[column - 1] ?? 0) + 1;
      const swapped = row > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      const swap = swapped ? (before[column - 2] ?? 0) + 1 : substitution;
      current.push(Math.min(substitution, deletion, insertion, swap));
    }
    [before, previous] = [previous, current];
  }
  return previous[b.length] ?? a.length;
}
