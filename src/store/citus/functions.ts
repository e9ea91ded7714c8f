/**
 * Every file with a distributed function, so that `longshore migrate` on Citus knows all of them. A
 * test compares this list with the files.
 */
export { allFunctions } from '../connection/distributed-function.ts';
