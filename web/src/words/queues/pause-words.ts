export { pauseOf, pauseWords, resumeWords } from '../../../../src/core/queue/pause-words.ts';
