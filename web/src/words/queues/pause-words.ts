/** In the address of a definition, they open its dialogs. */
export const PAUSE = 'pause';
export const RESUME = 'resume';

export { pauseOf, pauseWords, resumeWords } from '../../../../src/core/queue/pause-words.ts';
