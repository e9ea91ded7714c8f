import type { LogView } from '../../../../src/core/views/history.ts';

/** The newest log lines, and the number of earlier ones dropped to keep the page fast. */
export interface LogTail {
  lines: readonly LogView[];
  dropped: number;
}

export const TAIL_MAX = 3_000;
export const EMPTY_TAIL: LogTail = { lines: [], dropped: 0 };

/** A reopened stream may repeat lines; line ids only grow. */
export function appendLines(tail: LogTail, more: readonly LogView[]): LogTail {
  const known = new Set(tail.lines.slice(-more.length - 50).map(({ id }) => id));
  const all = [...tail.lines, ...more.filter(({ id }) => !known.has(id))];
  const excess = Math.max(0, all.length - TAIL_MAX);
  return { lines: all.slice(excess), dropped: tail.dropped + excess };
}

// oxlint-disable-next-line no-control-regex
const ESCAPES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|.)/g;
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f\u202a-\u202e\u2066-\u2069]/g;

/** Without terminal escapes and control characters. */
export function plainText(text: string): string {
  return text.replaceAll(ESCAPES, '').replaceAll(CONTROLS, '\ufffd');
}
