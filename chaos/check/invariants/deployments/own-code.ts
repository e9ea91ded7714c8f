import { invariant } from '../../invariant.ts';

/** The code says its own name, whatever the worker believes to have run. */
export const ownCode = invariant(
  'S26',
  'A job runs the code of the deployment that it was queued with, also when it is retried.',
  function* ({ records, deployed }) {
    for (const { id, executions } of records.values()) {
      for (const { attempt, claim, effects } of executions) {
        const build = effects[0]?.build;
        if (build === undefined) continue;
        const version = deployed.versionOfClaim(id, claim?.number ?? 0);
        if (version === null) continue;
        const own = deployed.buildOf(version);
        if (own === build) continue;
        yield { job: id, text: `attempt ${attempt} of version ${version} (${own}) ran ${build}` };
      }
      const given = deployed.versionsOf(id).filter(({ version }) => version !== 0);
      for (const [index, { version, at }] of given.entries()) {
        const next = given[index + 1];
        // Before the first release there is no version; the job is in the queue of the first one.
        if (!next || (version === 1 && at < deployed.firstReleaseAt)) continue;
        yield { job: id, text: `had version ${version}, and then ${next.version}` };
      }
    }
  },
);
