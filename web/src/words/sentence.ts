/** A text of the server as a sentence; one that ends as a question stays one. */
export function sentenceOf(text: string): string {
  const whole = `${text[0]?.toUpperCase() ?? ''}${text.slice(1)}`;
  return /[.?!]$/.test(whole) ? whole : `${whole}.`;
}
