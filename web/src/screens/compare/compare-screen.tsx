import { getRouteApi, Link } from '@tanstack/react-router';
import { Panel } from '../../parts/panel.tsx';
import { Rows } from '../../parts/rows.tsx';
import { Empty, Screen, Waiting } from '../../parts/screen.tsx';
import {
  comparedFacts,
  comparedSteps,
  durationChange,
  type Run,
} from '../../words/job-page/comparison.ts';
import { DiffPanel } from './diff-panel.tsx';
import { OtherJob } from './other-job.tsx';
import { RunPicker } from './run-picker.tsx';
import { useRun } from './use-run.ts';

const route = getRouteApi('/compare');

/** Two jobs of a definition, or two attempts of a job, side by side. The URL names both. */
export function CompareScreen() {
  const { a, b, claimA, claimB } = route.useSearch();
  const isOneJob = b === undefined && (claimA !== undefined || claimB !== undefined);
  const first = useRun(a, claimA);
  const second = useRun(isOneJob ? a : b, claimB);
  if (a === undefined) {
    return (
      <Screen title="Compare runs">
        <Empty title="Choose a job to compare.">
          <Link to="/jobs">Go to the jobs</Link>
        </Empty>
      </Screen>
    );
  }
  if (!first.run) {
    return (
      <Screen title="Compare runs">
        <Waiting error={first.error} />
      </Screen>
    );
  }
  return (
    <Screen title="Compare runs">
      <div className="compare-heads">
        <RunPicker side="A" run={first.run} attempts={first.attempts} />
        {second.run ? (
          <RunPicker side="B" run={second.run} attempts={second.attempts} />
        ) : (
          <OtherJob job={first.run.job} chosen={b} error={second.error} />
        )}
      </div>
      {second.run && <Comparison a={first.run} b={second.run} />}
    </Screen>
  );
}

function Comparison({ a, b }: { a: Run; b: Run }) {
  const steps = comparedSteps(a, b);
  const change = durationChange(a.attempt?.durationMs ?? null, b.attempt?.durationMs ?? null);
  const isOneJob = a.job.jobId === b.job.jobId;
  return (
    <div className="stack-of-panels">
      {a.job.definitionKey !== b.job.definitionKey && (
        <p className="notice warn">These jobs have different definitions.</p>
      )}
      <Panel title="Run" aside={change === null ? undefined : `B took ${change}`} flush>
        <Rows
          caption="Facts of both runs"
          rows={comparedFacts(a, b)}
          keyOf={({ name }) => name}
          className="compared"
          columns={[
            { title: 'Fact', titled: 'aloud', kind: 'short', cell: ({ name }) => name },
            { title: 'A', cell: (fact) => <Value text={fact.a} differs={fact.differs} /> },
            { title: 'B', cell: (fact) => <Value text={fact.b} differs={fact.differs} /> },
          ]}
        />
      </Panel>
      {steps.length > 0 && (
        <Panel title="Steps" flush>
          <Rows
            caption="Durations of the steps of both runs"
            rows={steps}
            keyOf={({ name }) => name}
            className="compared"
            columns={[
              { title: 'Step', cell: ({ name }) => name },
              { title: 'A', cell: (step) => step.a },
              { title: 'B', cell: (step) => step.b },
            ]}
          />
        </Panel>
      )}
      {isOneJob ? (
        <p className="soft">Attempts of one job share its params and its result.</p>
      ) : (
        <>
          {hasLarge(a, b, 'largeParams') ? (
            <TooLarge title="Params" />
          ) : (
            <DiffPanel title="Params" a={a.job.params} b={b.job.params} />
          )}
          {hasLarge(a, b, 'largeResult') ? (
            <TooLarge title="Result" />
          ) : (
            (a.job.status === 'succeeded' || b.job.status === 'succeeded') && (
              <DiffPanel title="Result" a={a.job.result} b={b.job.result} />
            )
          )}
        </>
      )}
    </div>
  );
}

function hasLarge(a: Run, b: Run, field: 'largeParams' | 'largeResult'): boolean {
  return a.job[field] !== undefined || b.job[field] !== undefined;
}

function TooLarge({ title }: { title: string }) {
  return (
    <Panel title={title}>
      <p className="soft">Too large to compare here. The pages of the jobs have the files.</p>
    </Panel>
  );
}

function Value({ text, differs }: { text: string; differs: boolean }) {
  return differs ? <strong className="differs">{text}</strong> : text;
}
