/** How the names of slots with remote workers begin. */
export const REMOTE = 'worker-remote';

/** What is noted about a kill of an API that had not answered such calls. */
export const OPEN_CALLS = 'calls of remote workers were open';
