import { defineConfig } from 'vitest/config';
import { COMPLETE_ONLY, QUICK_END_TO_END } from './test/support/checks/quick-suite.ts';
import { projects } from './vitest.config.ts';

// `npm test`: everything that fits into a few minutes on two cores. `npm run test:all` runs all files.
export default defineConfig({
  test: {
    projects: projects({
      exclude: Object.keys(COMPLETE_ONLY),
      endToEnd: QUICK_END_TO_END,
      oldestPostgres: false,
      onCitus: false,
    }),
  },
});
