/**
 * What `npm test` leaves to `npm run test:all`. A file belongs here when it takes more than about
 * ten seconds on two idle cores; the reason says what makes it slow.
 */
export const COMPLETE_ONLY: Record<string, string> = {};

/** Of the tests with whole processes and a browser, `npm test` runs these only. */
export const QUICK_END_TO_END = [
  'test/e2e/start.test.ts',
  'test/e2e/cli.test.ts',
  'test/browser/overview.test.ts',
  'test/browser/first-key.test.ts',
];
