import { type Check, ok, problem } from './check.ts';

/** The first Node that runs TypeScript natively; same as `engines` in package.json. */
export const NODE_WANTED = { major: 22, minor: 18 };

export function judgeNode(version: string): Check {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const { major: wanted, minor: least } = NODE_WANTED;
  if (major > wanted || (major === wanted && minor >= least)) return ok('node', version);
  return problem('node', `${version} is too old`, `install Node ${wanted}.${least} or newer`);
}
