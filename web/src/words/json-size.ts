const LINES_SHOWN = 18;
const CHARS_SHOWN = 1_200;

/** Whether indented JSON takes more room than a panel should. */
export function isLong(text: string): boolean {
  if (text.length > CHARS_SHOWN) return true;
  return text.split('\n', LINES_SHOWN + 1).length > LINES_SHOWN;
}

export function sizeWords(text: string): string {
  const bytes = new TextEncoder().encode(text).length;
  if (bytes < 1_024) return `${bytes} B`;
  return bytes < 1_048_576
    ? `${Math.ceil(bytes / 1_024)} KiB`
    : `${(bytes / 1_048_576).toFixed(1)} MiB`;
}

const TEXT_SHOWN = 500;

/** The beginning of a long text, and how much is left. */
export function clampText(text: string): { shown: string; rest: number } {
  if (text.length <= TEXT_SHOWN * 1.2) return { shown: text, rest: 0 };
  return { shown: text.slice(0, TEXT_SHOWN), rest: text.length - TEXT_SHOWN };
}
