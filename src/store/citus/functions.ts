/**
 * Every file with a distributed function, so that `longshore migrate` on Citus knows all of them. A
 * test compares this list with the files.
 */
import '../change/retry-jobs.ts';
import '../claim/few.ts';
import '../claim/route-jobs.ts';

export { allFunctions } from '../connection/distributed-function.ts';
