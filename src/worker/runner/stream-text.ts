import { piecesOf, STREAM_MAX_BYTES } from '../../core/logs/stream.ts';
import { STREAM_TEXT_MAX } from '../ipc.ts';

/** `ctx.stream` of one attempt: checks the text and its size, and sends it in pieces. */
export function streamOf(
  maxBytes: number = STREAM_MAX_BYTES,
  send: (piece: string) => void,
): (text: string) => void {
  let bytes = 0;
  return (text) => {
    if (typeof text !== 'string') {
      const got = text === null ? 'null' : typeof text;
      throw new TypeError(
        `ctx.stream takes a text (got ${got}); stream a value as JSON.stringify(value) + "\\n"`,
      );
    }
    if (text === '') return;
    bytes += Buffer.byteLength(text);
    if (bytes > maxBytes) {
      throw new RangeError(
        `an attempt may stream ${maxBytes} bytes: stream less, or raise LONGSHORE_STREAM_MAX_BYTES`,
      );
    }
    for (const piece of piecesOf(text, STREAM_TEXT_MAX)) send(piece);
  };
}
