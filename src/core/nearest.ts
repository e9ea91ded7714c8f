/** The known name closest to a mistyped one, or null when none is close enough to be meant. */
export function nearestName(typed: string, known: readonly string[]): string | null {
  const wanted = typed.toLowerCase();
  let best: string | null = null;
  let bestDistance = Math.max(1, Math.floor(typed.length / 2)) + 1;
  for (const name of known) {
    const distance = editDistance(wanted, name.toLowerCase());
    if (distance < bestDistance) {
      best = name;
      bestDistance = distance;
    }
  }
  return best;
}

/** "unknown field "prams": did you mean "params"?", the same sentence wherever names are checked. */
export function unknownName(what: string, typed: string, known: readonly string[]): string {
  const shown = typed.length > 60 ? `${typed.slice(0, 60)}…` : typed;
  const nearest = nearestName(typed.slice(0, 60), known);
  return `unknown ${what} "${shown}"${nearest ? `: did you mean "${nearest}"?` : ''}`;
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const substitution = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      const deletion = (previous[column] ?? 0) + 1;
      const insertion = (current[column - 1] ?? 0) + 1;
      current.push(Math.min(substitution, deletion, insertion));
    }
    previous = current;
  }
  return previous[b.length] ?? a.length;
}
