import { defineCommand } from '../../src/index.ts';

/** A program of its own for each job: the smallest there is. */
export const noop = defineCommand({ key: 'noop-command', command: ['true'] });
