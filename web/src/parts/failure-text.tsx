import { plainText } from '../words/jobs/log-tail.ts';

/** A failure in two lines at most; all of it to who points at it. */
export function FailureText({ code, message }: { code: string; message: string }) {
  const text = plainText(message);
  return (
    <span className="remark" title={text}>
      <code className="code">{code}</code> {text}
    </span>
  );
}
