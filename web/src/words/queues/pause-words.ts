/** What a resume does. Null: the number of waiting jobs is not known. */
export function resumeWords(waiting: number | null): string {
  if (waiting === null) return 'Its waiting jobs start.';
  if (waiting === 0) return 'No job waits. New jobs start at once.';
  if (waiting === 1) return '1 waiting job starts.';
  return `${waiting.toLocaleString('en')} waiting jobs start.`;
}

export { pauseOf, pauseWords } from '../../../../src/core/queue/pause-words.ts';
