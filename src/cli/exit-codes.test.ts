import { CommanderError } from 'commander';
import { expect, test } from 'vitest';
import { ProblemError, ServerUnreachable, WaitTimeout } from '../client/index.ts';
import { ConfigError } from '../config/error.ts';
import { StartRefusal } from '../runtime/start-refusal.ts';
import { exitCode, exitNameOf } from './exit-codes.ts';
import { UsageError } from './options/usage-error.ts';

const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });

test.each<[error: unknown, code: number]>([
  [new CommanderError(0, 'commander.version', ''), 0],
  [new Error('boom'), 1],
  ['thrown text', 1],
  [new ProblemError(500, 'INTERNAL', ''), 1],
  [new ProblemError(429, 'RATE_LIMITED', ''), 1],
  [new CommanderError(1, 'commander.unknownOption', ''), 2],
  [new UsageError('bad json'), 2],
  [new ConfigError(['bad port']), 2],
  [new StartRefusal('configuration', 'port 1 is taken'), 2],
  [new StartRefusal('definitions', 'a definition'), 8],
  [new StartRefusal('migration', 'a newer version'), 9],
  [new ProblemError(400, 'PAYLOAD_INVALID', ''), 2],
  [new ProblemError(413, 'PAYLOAD_TOO_LARGE', ''), 2],
  [new ProblemError(404, 'NOT_FOUND', ''), 3],
  [new ProblemError(401, 'UNAUTHORIZED', ''), 4],
  [new ProblemError(403, 'FORBIDDEN', ''), 4],
  [new ProblemError(409, 'IDEMPOTENCY_CONFLICT', ''), 5],
  [new ServerUnreachable('http://x', 'refused', refused), 6],
  [new ProblemError(503, 'UNAVAILABLE', ''), 6],
  [new Error('no database', { cause: refused }), 6],
  [Object.assign(new Error('no database'), { code: 'DATABASE_UNREACHABLE' }), 6],
  [new WaitTimeout('id', 1, null), 7],
])('%s exits with %i', (error, code) => {
  expect(exitCode(exitNameOf(error))).toBe(code);
});
