import { DELIVERIES_OF_ENDED } from '../claim/delivery-jobs.ts';
import { ENDED, MAKE_HOOKS } from '../claim/hook-jobs.ts';
import { moves, counters, WITH_DELIVERIES, WITH_HOOKS } from '../counters/counter-moves.ts';
import { tellWatchers } from '../edges/tell-watchers.ts';
import { RETURN_PERMITS, LEFT_WAITING } from '../limits/limiters.ts';

/**
 * Ends the rows of `gone`, which have left `waiting`, as cancelled. `actor` and `result` are SQL
 * expressions.
 */
export const endCancelled = (actor: string, result = 'null::json') => `ended as (
    insert into longshore.done (shard, id, queue, state, rank, attempts, max_attempts, claim_no,
      interruptions, queued_at, cancel_requested_at, cancel_requested_by, finished_at, result)
    select shard, id, queue, 'cancelled', rank, attempts, max_attempts, claim_no,
      interruptions, queued_at, at, ${actor}, at, ${result}
    from gone, (select clock_timestamp() as at) c
    returning ${ENDED}
  ),
  ${LEFT_WAITING},
  ${RETURN_PERMITS},
  ${tellWatchers("select shard, id, 'cancelled'::longshore.job_state from gone where watched")},
  ${MAKE_HOOKS}, ${DELIVERIES_OF_ENDED},
  ${counters(moves('state', "'cancelled'", 'gone'), WITH_HOOKS, WITH_DELIVERIES)}`;
