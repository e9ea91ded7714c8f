import { invariant } from '../../invariant.ts';

/** At the end of a run, each acknowledged deployment that was not retired gets one more job. */
export const keptDeployments = invariant(
  'S28',
  'An acknowledged deployment is kept and runs jobs until it is retired; so is a release.',
  function* ({ history, records, deployed }) {
    const final = new Map(history.deployments.map((one) => [one.number, one]));
    const retired = new Set(
      history.deploys.filter(({ what }) => what === 'retire').map(({ number }) => number),
    );
    for (const { what, result, number, build, released, from, until } of history.deploys) {
      if (result !== 'ok' || number === null || what === 'retire') continue;
      if (released && !deployed.releasedDuring(from, until).includes(number)) {
        yield { text: `the release of ${number} was acknowledged, and is not stored` };
      }
      if (what !== 'deploy') continue;
      const kept = final.get(number);
      if (kept?.build !== build) {
        yield { text: `deployment ${number} was acknowledged, and is not stored` };
        continue;
      }
      if (retired.has(number)) continue;
      if (kept.retired) yield { text: `deployment ${number} was retired by itself` };
      const pinned = [...records.values()].filter(({ wanted }) => wanted?.pinned === number);
      if (pinned.some(({ final: job }) => job?.state === 'succeeded')) continue;
      yield { text: `deployment ${number} was acknowledged, and ran none of its jobs` };
    }
  },
);
