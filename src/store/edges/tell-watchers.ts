/**
 * A part of every statement that writes to `done`, except the short ones of plain successes, which leave
 * watched jobs to `settle`: the end of a job that others wait for gets a row for the resolver
 * (`resolve-ended.ts`), in the same commit. `query` returns shard, id and state of those that ended; yields
 * none.
 */
export const tellWatchers = (query: string) => `
  told as (
    insert into longshore.ended_watched (shard, id, state) ${query}
  )`;
