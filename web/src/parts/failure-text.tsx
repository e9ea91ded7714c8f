import { type Failure, failureWords } from '../../../src/core/failure/failure-words.ts';
import { plainText } from '../words/jobs/log-tail.ts';

/** An error of several jobs in a few lines; the full text is in the tooltip. */
export function FailureText({ code, count, ...failure }: Failure & { count: number }) {
  const text = plainText(failureWords(failure, count > 1));
  return (
    <span className="remark" title={text}>
      <code className="code">{code}</code> {text}
    </span>
  );
}
