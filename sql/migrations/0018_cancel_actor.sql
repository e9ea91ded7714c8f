-- Who asked a job to stop, as the audit log names them: an event of the job tells it. Null when no person
-- did, and for what was cancelled before this.
alter table longshore.running add column cancel_requested_by text;
alter table longshore.done add column cancel_requested_by text;
alter table longshore.attempt add column cancel_requested_by text;
