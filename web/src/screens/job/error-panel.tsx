import { Link } from '@tanstack/react-router';
import { inStep } from '../../../../src/core/failure/failure-words.ts';
import type { JobError, JobView } from '../../../../src/core/job/job.ts';
import { Panel } from '../../parts/panel.tsx';
import { plainText } from '../../words/jobs/log-tail.ts';
import { foldStack } from '../../words/jobs/stack.ts';

/** The latest error with causes and stack; frames of own code first. */
export function ErrorPanel({ error, job }: { error: JobError; job: JobView }) {
  const what = job.status === 'failed' ? 'Why it failed' : 'Latest error';
  const title = plainText(`${what}${inStep(error)}`);
  return (
    <Panel
      title={title}
      aside={
        <Link to="/jobs" search={{ definitionKey: job.definitionKey, status: ['failed'] }}>
          All failures of this definition
        </Link>
      }
    >
      <ErrorText error={error} />
      {causes(error).map((cause, index) => (
        <div key={index} className="cause">
          <h3>Caused by</h3>
          <ErrorText error={cause} />
        </div>
      ))}
    </Panel>
  );
}

const CAUSES_MAX = 10;

function causes(error: JobError): JobError[] {
  const chain: JobError[] = [];
  for (let one = error.cause; one !== null && chain.length < CAUSES_MAX; one = one.cause) {
    chain.push(one);
  }
  return chain;
}

function ErrorText({ error }: { error: JobError }) {
  return (
    <div className="error">
      <p>
        <code className="code">{error.code}</code>{' '}
        <span className="message">{plainText(error.message)}</span>
      </p>
      {error.stack !== null && <Stack stack={plainText(error.stack)} />}
    </div>
  );
}

function Stack({ stack }: { stack: string }) {
  const stretches = foldStack(stack);
  if (stretches.length === 0) return null;
  return (
    <div className="stack" role="group" aria-label="Stack" tabIndex={0}>
      {stretches.map(({ own, lines }, index) =>
        own ? (
          <pre key={index}>{lines.join('\n')}</pre>
        ) : (
          <details key={index}>
            <summary>
              {lines.length} library {lines.length === 1 ? 'frame' : 'frames'}
            </summary>
            <pre>{lines.join('\n')}</pre>
          </details>
        ),
      )}
    </div>
  );
}
