import { expect, test } from 'vitest';
import { foldStack } from './stack.ts';

test('frames of libraries are put together, the own ones stay', () => {
  const stack = [
    'Error: boom <script>',
    '    at send (/app/jobs/mail.ts:12:3)',
    '    at Socket.emit (node:events:520:5)',
    '    at run (/app/node_modules/x/index.js:1:1)',
    '    at runJob (file:///longshore/src/worker/runner/run.ts:39:48)',
    '    at outcomeOf (/longshore/dist/code-aB3/worker/runner/main.cjs:17:10)',
    '    at step (/srv/checkout/dist/code-aB3/core/step.cjs:1:10)',
    '    at deliver (/app/jobs/mail.ts:40:9)',
  ].join('\n');
  expect(foldStack(stack)).toEqual([
    { own: true, lines: ['at send (/app/jobs/mail.ts:12:3)'] },
    {
      own: false,
      lines: [
        'at Socket.emit (node:events:520:5)',
        'at run (/app/node_modules/x/index.js:1:1)',
        'at runJob (file:///longshore/src/worker/runner/run.ts:39:48)',
        'at outcomeOf (/longshore/dist/code-aB3/worker/runner/main.cjs:17:10)',
        'at step (/srv/checkout/dist/code-aB3/core/step.cjs:1:10)',
      ],
    },
    { own: true, lines: ['at deliver (/app/jobs/mail.ts:40:9)'] },
  ]);
  expect(foldStack('no frames here')).toEqual([]);
});
