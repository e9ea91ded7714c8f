import { StartRefusal } from './start-refusal.ts';

/** The same as `engines` in package.json; `bin/longshore.js` has it for the command line. */
export const NODE_WANTED = { major: 22, minor: 18 };

/**
 * Jobs run on newer Nodes only; the client does not need one. An older Node would fail somewhere
 * inside, with the name of a function that it does not have.
 */
export function refuseOldNode(version = process.versions.node): void {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const { major: wanted, minor: least } = NODE_WANTED;
  if (major > wanted || (major === wanted && minor >= least)) return;
  throw new StartRefusal(
    'configuration',
    `Longshore needs Node ${wanted}.${least} or newer to run jobs; this is Node ${version}. ` +
      'Install a newer Node, or add one to your project: npm install node@24 ' +
      '(npm scripts and npx then run on it)',
  );
}
