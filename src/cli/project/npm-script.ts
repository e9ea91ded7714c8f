import type { Environment } from '../../config/environment.ts';
import { StartRefusal } from '../../runtime/start-refusal.ts';

/** A refusal that names a flag says how npm passes flags on, if an npm script started the command. */
export function withNpmHint(error: unknown, env: Environment): unknown {
  if (!(error instanceof StartRefusal) || !/ --port \d+$/.test(error.message)) return error;
  const script = env['npm_lifecycle_event'];
  // npx passes flags on by itself.
  if (script === undefined || script === 'npx') return error;
  const words = `${error.message} (npm needs "--" before it)`;
  return new StartRefusal(error.kind, words, { cause: error });
}
