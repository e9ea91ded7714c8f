/** HTML that is safe to place into a page as it is. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = Markup | string | number | readonly Part[];

/** A template in which every value is escaped, unless it is HTML that this function made. */
export function markup(strings: TemplateStringsArray, ...values: readonly Part[]): Markup {
  return new Markup(strings.map((text, index) => text + shown(values[index] ?? '')).join(''));
}

function shown(value: Part): string {
  if (value instanceof Markup) return value.text;
  if (typeof value === 'object') return value.map(shown).join('');
  return String(value)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
