import type { StreamView } from '../../core/views/history.ts';

/** A piece of the live output of a job. */
export interface StreamChunk {
  /** For `cursor`. */
  id: string;
  /** Empty when a new attempt begins. */
  text: string;
  attempt: number;
  /** The code of the job began again: drop the text that you have. */
  startsOver: boolean;
}

export interface StreamOptions {
  /** The id of the last chunk that you have. */
  cursor?: string | undefined;
  signal?: AbortSignal | undefined;
}

/** The chunks of these entries. The first beginning is no news for a reader without text. */
export async function* chunksOf(
  entries: AsyncIterable<StreamView>,
  cursor: string | undefined,
): AsyncGenerator<StreamChunk, void, undefined> {
  let hasText = cursor !== undefined;
  for await (const { id, attempt, text } of entries) {
    if (text !== null) {
      hasText = true;
      yield { id, text, attempt, startsOver: false };
    } else if (hasText) {
      hasText = false;
      yield { id, text: '', attempt, startsOver: true };
    }
  }
}
