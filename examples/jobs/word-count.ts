import { defineCommand } from 'longshore';

/** A program in another language: Python counts the words of a text. No Node runs beside it. */
export const wordCount = defineCommand({
  key: 'word-count',
  owner: 'team-examples',
  command: ['python3', 'word-count.py'],
  timeoutSeconds: 60,
  memoryMb: 256,
});
