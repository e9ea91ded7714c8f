const CODE = /\.(ts|mts|js|mjs)$/;
const NOT_A_JOB = /(^|\/)([._]|node_modules(\/|$))|\.d\.ts$|\.(test|spec)\.\w+$/;

/** Whether a file of a jobs folder may contain definitions, by its path relative to the folder. */
export function isDefinitionFile(path: string): boolean {
  return CODE.test(path) && !NOT_A_JOB.test(path.replaceAll('\\', '/'));
}
