/** What one attempt may stream, unless the operator sets another limit. */
export const STREAM_MAX_BYTES = 4_194_304;

/** How long a worker collects text before it writes a chunk. */
export const STREAM_CHUNK_MS = 100;

/** A chunk is written at this size, however young it is. In characters. */
export const STREAM_CHUNK_CHARS = 65_536;

/** Cuts a text into pieces; a character of two code units stays in one piece. */
export function piecesOf(text: string, charsMax: number): string[] {
  const pieces: string[] = [];
  for (let from = 0; from < text.length;) {
    let to = from + charsMax;
    if (to < text.length && /[\uD800-\uDBFF]/.test(text.charAt(to - 1))) to -= 1;
    pieces.push(text.slice(from, to));
    from = to;
  }
  return pieces;
}

/** Joins pieces to chunks of at most the size above; a larger piece stays whole. */
export function chunksOf(pieces: readonly string[]): string[] {
  const chunks: string[] = [];
  let chunk = '';
  for (const piece of pieces) {
    if (chunk !== '' && chunk.length + piece.length > STREAM_CHUNK_CHARS) {
      chunks.push(chunk);
      chunk = '';
    }
    chunk += piece;
  }
  if (chunk !== '') chunks.push(chunk);
  return chunks;
}
